"""Container images without a daemon: a layout of the Open Container Initiative in a tar archive, which `docker load`, podman and skopeo read.
The image holds the program, certificates of authorities and time zones; no shell, no package manager, not root."""

from __future__ import annotations

import hashlib
import json
import pathlib

from . import archive, source
from .archive import Entry
from .source import MACHINES, REPOSITORY, Refused

USER = 65532
HOME = "opt/tyk-gateway"
CERTIFICATES = "etc/ssl/certs/ca-certificates.crt"


def system_files() -> dict[str, Entry]:
    """Certificates and time zones, of the Python packages certifi and tzdata: their versions are fixed, those of a system are not."""
    site = source.tools() / "image"
    certificates, zones = site / "certifi/cacert.pem", site / "tzdata/zoneinfo"
    if not certificates.exists() or not zones.is_dir():
        raise Refused(f"{site} has no certificates and time zones; scripts/test-deps.sh dist installs them")
    found = {CERTIFICATES: Entry(certificates.read_bytes())}
    for path, entry in archive.of_folder(zones, "usr/share/zoneinfo").items():
        if not path.endswith(".py") and "__pycache__" not in path:
            found[path] = Entry(entry.content)
    return found


def root_files(program: pathlib.Path, notices: bytes) -> dict[str, Entry]:
    """What the image holds."""
    return system_files() | {
        "etc/passwd": Entry(f"root:x:0:0:root:/root:/sbin/nologin\nnonroot:x:{USER}:{USER}:nonroot:/{HOME}:/sbin/nologin\n".encode()),
        "etc/group": Entry(f"root:x:0:\nnonroot:x:{USER}:\n".encode()),
        "etc/nsswitch.conf": Entry(b"hosts: files dns\n"),
        "tmp": Entry(mode=0o1777),
        "usr/local/bin/tollgate": Entry(program.read_bytes(), 0o755),
        "usr/share/doc/tollgate/LICENSE": Entry((source.ROOT / "LICENSE").read_bytes()),
        "usr/share/doc/tollgate/THIRD-PARTY-LICENSES.txt": Entry(notices),
        # The directory of Tyk's image, so that existing mounts work: tyk.conf, apps, policies.
        HOME: Entry(mode=0o755, owner=USER),
        f"{HOME}/apps": Entry(mode=0o755, owner=USER),
        f"{HOME}/policies": Entry(mode=0o755, owner=USER),
        f"{HOME}/data": Entry(mode=0o700, owner=USER),
    }


def write(machine: str, content: dict[str, Entry], into: pathlib.Path) -> pathlib.Path:
    """Writes the image of a machine, and returns its path."""
    layer = archive.tar(content)
    packed = archive.compressed(layer)
    configuration = encoded({
        "created": source.written_time(),
        "architecture": MACHINES[machine]["image"],
        "os": "linux",
        "config": {
            "User": f"{USER}:{USER}",
            "WorkingDir": f"/{HOME}",
            "Env": ["PATH=/usr/local/bin", f"SSL_CERT_FILE=/{CERTIFICATES}"],
            "Entrypoint": ["/usr/local/bin/tollgate"],
            "Cmd": ["run"],
            "ExposedPorts": {"8080/tcp": {}},
            "Volumes": {f"/{HOME}/data": {}},
            "StopSignal": "SIGTERM",
            "Healthcheck": {"Test": ["CMD", "/usr/local/bin/tollgate", "status", "--ready", "--insecure", "--timeout", "4"],
                            "Interval": 10 * 10**9, "Timeout": 5 * 10**9, "StartPeriod": 30 * 10**9, "Retries": 3},
            "Labels": labels(),
        },
        "rootfs": {"type": "layers", "diff_ids": [f"sha256:{hashlib.sha256(layer).hexdigest()}"]},
        "history": [{"created": source.written_time(), "created_by": "packaging/dist.py"}],
    })
    manifest = encoded({
        "schemaVersion": 2,
        "mediaType": "application/vnd.oci.image.manifest.v1+json",
        "config": described("application/vnd.oci.image.config.v1+json", configuration),
        "layers": [described("application/vnd.oci.image.layer.v1.tar+gzip", packed)],
        "annotations": labels(),
    })
    tag = f"tollgate:{source.version()}"
    index = encoded({
        "schemaVersion": 2,
        "mediaType": "application/vnd.oci.image.index.v1+json",
        "manifests": [described("application/vnd.oci.image.manifest.v1+json", manifest) | {
            "platform": {"architecture": MACHINES[machine]["image"], "os": "linux"},
            "annotations": {"org.opencontainers.image.ref.name": source.version(), "io.containerd.image.name": f"docker.io/library/{tag}"},
        }],
    })
    # manifest.json is what versions of Docker before 25 read.
    older = encoded([{"Config": blob(configuration), "RepoTags": [tag], "Layers": [blob(packed)]}])
    files = {"oci-layout": encoded({"imageLayoutVersion": "1.0.0"}), "index.json": index, "manifest.json": older}
    files |= {blob(content): content for content in (configuration, manifest, packed)}
    result = into / f"tollgate-{source.version()}-image-{MACHINES[machine]['image']}.tar"
    result.write_bytes(archive.tar({path: Entry(content) for path, content in files.items()}))
    return result


def labels() -> dict[str, str]:
    return {
        "org.opencontainers.image.title": "tollgate",
        "org.opencontainers.image.version": source.version(),
        "org.opencontainers.image.revision": source.commit(),
        "org.opencontainers.image.source": REPOSITORY,
        "org.opencontainers.image.licenses": "Apache-2.0",
    }


def encoded(value) -> bytes:
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()


def blob(content: bytes) -> str:
    return f"blobs/sha256/{hashlib.sha256(content).hexdigest()}"


def described(media_type: str, content: bytes) -> dict:
    return {"mediaType": media_type, "digest": f"sha256:{hashlib.sha256(content).hexdigest()}", "size": len(content)}
