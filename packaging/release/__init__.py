"""What a release is made of: programs, packages, images, lists of what is in them, sums and signatures."""
