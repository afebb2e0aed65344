package main

import (
	"fmt"
	"net"
	"net/netip"
	"os/exec"
	"runtime"
	"sync"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netns"
	"golang.org/x/sys/unix"
)

// network connects pods to a bridge: each has a network namespace with one interface, and an address of each pool.
type network struct {
	bridge   netlink.Link
	pools    []netip.Prefix
	gateways []netip.Addr

	lock sync.Mutex
	used map[netip.Addr]bool
	// The address of each pool that was given last. Addresses are used again only after the pool's end, so that a
	// new pod cannot be mistaken for one that has just ended.
	last    []netip.Addr
	created int
}

type podNetwork struct {
	namespace netns.NsHandle
	addresses []netip.Addr
}

func newNetwork(bridge string, pools []netip.Prefix, gateways []netip.Addr) (*network, error) {
	link, err := netlink.LinkByName(bridge)
	if err != nil {
		return nil, fmt.Errorf("the bridge %s: %w", bridge, err)
	}
	n := &network{bridge: link, pools: pools, gateways: gateways, used: map[netip.Addr]bool{}}
	for i, pool := range pools {
		n.last = append(n.last, pool.Masked().Addr())
		n.used[gateways[i]] = true
	}
	return n, nil
}

// connect makes the network of a pod. The namespace lives as long as its handle or a process in it.
func (n *network) connect() (*podNetwork, error) {
	addresses, number, err := n.allocate()
	if err != nil {
		return nil, err
	}
	namespace, err := newNamespace()
	if err != nil {
		return nil, err
	}
	pod := &podNetwork{namespace: namespace, addresses: addresses}
	if err := n.configure(pod, fmt.Sprintf("pod%d", number)); err != nil {
		n.disconnect(pod)
		return nil, err
	}
	return pod, nil
}

// disconnect gives the addresses back; the interfaces end with the namespace.
func (n *network) disconnect(pod *podNetwork) {
	pod.namespace.Close()
	n.lock.Lock()
	defer n.lock.Unlock()
	for _, address := range pod.addresses {
		delete(n.used, address)
	}
}

func (n *network) allocate() ([]netip.Addr, int, error) {
	n.lock.Lock()
	defer n.lock.Unlock()
	var addresses []netip.Addr
	for i, pool := range n.pools {
		address := n.last[i].Next()
		for tries := 0; n.used[address] || !pool.Contains(address); tries++ {
			if tries > len(n.used)+1 {
				return nil, 0, fmt.Errorf("no address is left in %s", pool)
			}
			if address = address.Next(); !pool.Contains(address) {
				address = pool.Masked().Addr().Next()
			}
		}
		n.last[i] = address
		addresses = append(addresses, address)
	}
	for _, address := range addresses {
		n.used[address] = true
	}
	n.created++
	return addresses, n.created, nil
}

func (n *network) configure(pod *podNetwork, name string) error {
	attributes := netlink.NewLinkAttrs()
	attributes.Name = name
	attributes.MasterIndex = n.bridge.Attrs().Index
	veth := &netlink.Veth{LinkAttrs: attributes, PeerName: "eth0", PeerNamespace: netlink.NsFd(pod.namespace)}
	if err := netlink.LinkAdd(veth); err != nil {
		return fmt.Errorf("the interface of a pod: %w", err)
	}
	if err := netlink.LinkSetUp(veth); err != nil {
		return err
	}
	inside, err := netlink.NewHandleAt(pod.namespace)
	if err != nil {
		return err
	}
	defer inside.Close()
	for _, name := range []string{"lo", "eth0"} {
		link, err := inside.LinkByName(name)
		if err != nil {
			return err
		}
		if name == "eth0" {
			for i, address := range pod.addresses {
				// Nobody else has the address; a check for duplicates would hold it back for a second.
				configured := &netlink.Addr{IPNet: prefixOf(address, n.pools[i].Bits()), Flags: unix.IFA_F_NODAD}
				if err := inside.AddrAdd(link, configured); err != nil {
					return err
				}
			}
		}
		if err := inside.LinkSetUp(link); err != nil {
			return err
		}
	}
	// The gateway's addresses lie behind the bridge.
	for _, gateway := range n.gateways {
		if err := inside.RouteAdd(&netlink.Route{Gw: net.IP(gateway.AsSlice())}); err != nil {
			return fmt.Errorf("the route by %s: %w", gateway, err)
		}
	}
	return nil
}

func prefixOf(address netip.Addr, bits int) *net.IPNet {
	return &net.IPNet{IP: net.IP(address.AsSlice()), Mask: net.CIDRMask(bits, address.BitLen())}
}

func newNamespace() (netns.NsHandle, error) {
	var created netns.NsHandle
	err := onThreadOfItsOwn(func() (err error) {
		created, err = netns.New()
		return err
	})
	return created, err
}

// start starts a process in the namespace: it inherits that of the thread that forks it.
func (p *podNetwork) start(command *exec.Cmd) error {
	return onThreadOfItsOwn(func() error {
		if err := netns.Set(p.namespace); err != nil {
			return err
		}
		return command.Start()
	})
}

// A thread that changed its namespace ends with the locked goroutine, instead of being used for others.
func onThreadOfItsOwn(act func() error) error {
	done := make(chan error)
	go func() {
		runtime.LockOSThread()
		done <- act()
	}()
	return <-done
}
