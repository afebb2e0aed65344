// Command kubelet is the node of the conformance rig. It starts each pod whose image it knows as a process with a
// network namespace and a root directory of its own, and serves the logs of containers to the API server. There are no
// images, no cgroups, no init containers and no exec: the pods of the suite need none of these.
package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"flag"
	"fmt"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/netip"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/virtual-kubelet/virtual-kubelet/node"
	"github.com/virtual-kubelet/virtual-kubelet/node/api"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/record"
)

const (
	nodeName = "rig"
	port     = 10250
	// Pods that are started, changed or ended at once.
	workers = 8
)

type options struct {
	kubeconfig string
	// The node's own addresses; the bridge that has them.
	addresses []netip.Addr
	bridge    string
	// Pods get addresses from these, one of each.
	pools []netip.Prefix
	// Programs by the last part of an image's name.
	programs map[string]string
	// Root directories of pods.
	roots string
	// Logs of containers.
	logs string
}

func main() {
	log.SetFlags(log.Ltime | log.Lmicroseconds)
	if err := run(parseFlags()); err != nil {
		log.Fatal(err)
	}
}

func parseFlags() options {
	var o options
	var addresses, pools, programs string
	flag.StringVar(&o.kubeconfig, "kubeconfig", "", "how to reach the API server")
	flag.StringVar(&addresses, "addresses", "", "the node's addresses, IPv4 first, with commas between")
	flag.StringVar(&o.bridge, "bridge", "", "the bridge to which pods are connected")
	flag.StringVar(&pools, "pools", "", "prefixes of the pods' addresses, IPv4 first, with commas between")
	flag.StringVar(&programs, "programs", "", "IMAGE=PROGRAM with commas between; IMAGE without registry and tag")
	flag.StringVar(&o.roots, "roots", "", "the directory for the root directories of pods")
	flag.StringVar(&o.logs, "logs", "", "the directory for the logs of containers")
	flag.Parse()
	for _, address := range strings.Split(addresses, ",") {
		o.addresses = append(o.addresses, netip.MustParseAddr(address))
	}
	for _, pool := range strings.Split(pools, ",") {
		o.pools = append(o.pools, netip.MustParsePrefix(pool))
	}
	o.programs = map[string]string{}
	for _, program := range strings.Split(programs, ",") {
		image, path, _ := strings.Cut(program, "=")
		o.programs[image] = path
	}
	return o
}

func run(o options) error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	config, err := clientcmd.BuildConfigFromFlags("", o.kubeconfig)
	if err != nil {
		return err
	}
	// The defaults of 5 and 10 would be slower than the pods are.
	config.QPS, config.Burst = 200, 400
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	network, err := newNetwork(o.bridge, o.pools, o.addresses)
	if err != nil {
		return err
	}
	for _, directory := range []string{o.roots, o.logs} {
		if err := os.MkdirAll(directory, 0o755); err != nil {
			return err
		}
	}
	pods := newPods(ctx, o, client, network)

	ofThisNode := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithTweakListOptions(func(list *metav1.ListOptions) {
		list.FieldSelector = fields.OneTermEqualSelector("spec.nodeName", nodeName).String()
	}))
	all := informers.NewSharedInformerFactory(client, 0)
	events := record.NewBroadcaster()
	events.StartRecordingToSink(&corev1client.EventSinkImpl{Interface: client.CoreV1().Events("")})
	defer events.Shutdown()
	podController, err := node.NewPodController(node.PodControllerConfig{
		PodClient:         client.CoreV1(),
		PodInformer:       ofThisNode.Core().V1().Pods(),
		EventRecorder:     events.NewRecorder(scheme.Scheme, corev1.EventSource{Component: "kubelet", Host: nodeName}),
		Provider:          pods,
		ConfigMapInformer: all.Core().V1().ConfigMaps(),
		SecretInformer:    all.Core().V1().Secrets(),
		ServiceInformer:   all.Core().V1().Services(),
	})
	if err != nil {
		return err
	}
	nodeController, err := node.NewNodeController(node.NewNaiveNodeProvider(), describeNode(o), client.CoreV1().Nodes(),
		node.WithNodeEnableLeaseV1(client.CoordinationV1().Leases(corev1.NamespaceNodeLease), node.DefaultLeaseDuration))
	if err != nil {
		return err
	}
	go func() {
		if err := serve(pods); err != nil {
			log.Fatal(err)
		}
	}()
	ofThisNode.Start(ctx.Done())
	all.Start(ctx.Done())
	ofThisNode.WaitForCacheSync(ctx.Done())
	all.WaitForCacheSync(ctx.Done())
	go podController.Run(ctx, workers) //nolint:errcheck // Its error is in Err.
	select {
	case <-podController.Ready():
	case <-podController.Done():
		return podController.Err()
	}
	go nodeController.Run(ctx) //nolint:errcheck // Its error is in Err.
	select {
	case <-podController.Done():
		err = podController.Err()
	case <-nodeController.Done():
		err = nodeController.Err()
	case <-ctx.Done():
	}
	stop()
	pods.wait()
	return err
}

// serve answers what the API server asks a node: the logs of containers.
func serve(pods *pods) error {
	certificate, err := ownCertificate()
	if err != nil {
		return err
	}
	server := http.Server{
		Addr:              fmt.Sprintf(":%d", port),
		TLSConfig:         &tls.Config{Certificates: []tls.Certificate{certificate}},
		ReadHeaderTimeout: 30 * time.Second,
		Handler: api.PodHandler(api.PodHandlerConfig{
			GetContainerLogs:      pods.containerLogs,
			GetPods:               pods.GetPods,
			GetPodsFromKubernetes: pods.GetPods,
		}, false),
	}
	return server.ListenAndServeTLS("", "")
}

// The API server does not verify it, since it is given no authority for kubelets.
func ownCertificate() (tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, err
	}
	template := x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(24 * time.Hour), DNSNames: []string{nodeName}}
	der, err := x509.CreateCertificate(rand.Reader, &template, &template, key.Public(), key)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, err
}

func describeNode(o options) *corev1.Node {
	resources := corev1.ResourceList{
		corev1.ResourceCPU:    resource.MustParse("64"),
		corev1.ResourceMemory: resource.MustParse("256Gi"),
		corev1.ResourcePods:   resource.MustParse("500"),
	}
	addresses := []corev1.NodeAddress{{Type: corev1.NodeHostName, Address: nodeName}}
	for _, address := range o.addresses {
		addresses = append(addresses, corev1.NodeAddress{Type: corev1.NodeInternalIP, Address: net.IP(address.AsSlice()).String()})
	}
	now := metav1.Now()
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{
			Name:   nodeName,
			Labels: map[string]string{corev1.LabelHostname: nodeName, corev1.LabelOSStable: "linux", corev1.LabelArchStable: "amd64"},
		},
		Status: corev1.NodeStatus{
			Capacity:        resources,
			Allocatable:     resources,
			Addresses:       addresses,
			DaemonEndpoints: corev1.NodeDaemonEndpoints{KubeletEndpoint: corev1.DaemonEndpoint{Port: port}},
			NodeInfo:        corev1.NodeSystemInfo{KubeletVersion: "v1.34.4", OperatingSystem: "linux", Architecture: "amd64"},
			Conditions: []corev1.NodeCondition{{
				Type: corev1.NodeReady, Status: corev1.ConditionTrue, Reason: "KubeletReady", Message: "the kubelet of the rig is ready",
				LastHeartbeatTime: now, LastTransitionTime: now,
			}},
		},
	}
}

// programOf finds the program that stands for an image, whatever its registry and tag.
func (o options) programOf(image string) (string, bool) {
	name, _, _ := strings.Cut(filepath.Base(image), ":")
	program, known := o.programs[name]
	return program, known
}
