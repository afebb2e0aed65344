package suite

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/controller-runtime/pkg/client"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"
	"sigs.k8s.io/gateway-api/conformance"
	"sigs.k8s.io/gateway-api/conformance/tests"
	"sigs.k8s.io/gateway-api/conformance/utils/suite"
)

// TestRig does the suite's setup without a gateway: it accepts the GatewayClass and the Gateways in its place. Then it
// holds the rig against what the suite's tests need: pods that answer on both addresses, their certificates, logs, DNS.
func TestRig(t *testing.T) {
	options := conformance.DefaultOptions(t)
	options.SupportedFeatures = featuresOf("standard")
	options.CleanupBaseResources = false
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go acceptAll(ctx, options.Client)

	rig, err := suite.NewConformanceTestSuite(options)
	require.NoError(t, err)
	rig.Setup(t, tests.ConformanceTests)

	t.Run("PodsAnswerOnBothAddresses", func(t *testing.T) {
		for _, pod := range podsOf(t, options.Clientset, "app=infra-backend-v1") {
			require.Len(t, pod.Status.PodIPs, 2)
			for _, address := range pod.Status.PodIPs {
				require.Equal(t, pod.Name, echo(t, address.IP, 3000, "/rig").Pod)
			}
		}
	})
	t.Run("LogsAreServed", func(t *testing.T) {
		for _, pod := range podsOf(t, options.Clientset, "app=infra-backend-v1") {
			begin := metav1.Now()
			path := fmt.Sprintf("/rig/logs/%d", time.Now().UnixNano())
			echo(t, pod.Status.PodIP, 3000, path)
			request := options.Clientset.CoreV1().Pods(pod.Namespace).GetLogs(pod.Name, &corev1.PodLogOptions{Container: "infra-backend-v1", SinceTime: &begin})
			require.Eventually(t, func() bool {
				text, err := request.DoRaw(ctx)
				return err == nil && strings.Contains(string(text), path)
			}, 10*time.Second, 100*time.Millisecond)
		}
	})
	t.Run("SecretsAreMounted", func(t *testing.T) {
		for _, pod := range podsOf(t, options.Clientset, "app=tls-backend") {
			require.Equal(t, pod.Name, echo(t, pod.Status.PodIP, 8443, "/").Pod)
		}
	})
	t.Run("NameServerAnswers", func(t *testing.T) {
		for _, pod := range podsOf(t, options.Clientset, "app=udp") {
			question := new(dns.Msg).SetQuestion("foo.bar.com.", dns.TypeA)
			answer, _, err := new(dns.Client).Exchange(question, net.JoinHostPort(pod.Status.PodIP, "53"))
			require.NoError(t, err)
			require.Equal(t, dns.RcodeSuccess, answer.Rcode)
		}
	})
	t.Run("EndpointSlicesOfBothFamilies", func(t *testing.T) {
		service, err := options.Clientset.CoreV1().Services(suite.InfrastructureNamespace).Create(ctx, &corev1.Service{
			ObjectMeta: metav1.ObjectMeta{Name: "rig-dual-stack"},
			Spec: corev1.ServiceSpec{
				Selector:       map[string]string{"app": "infra-backend-v1"},
				Ports:          []corev1.ServicePort{{Port: 8080}},
				IPFamilyPolicy: new(corev1.IPFamilyPolicyRequireDualStack),
			},
		}, metav1.CreateOptions{})
		require.NoError(t, err)
		defer options.Client.Delete(ctx, service) //nolint:errcheck // The rig ends with its cluster.
		require.Eventually(t, func() bool {
			slices, err := options.Clientset.DiscoveryV1().EndpointSlices(service.Namespace).List(ctx, metav1.ListOptions{
				LabelSelector: discoveryv1.LabelServiceName + "=" + service.Name,
			})
			return err == nil && len(slices.Items) == 2 && len(slices.Items[0].Endpoints) == 2 && len(slices.Items[1].Endpoints) == 2
		}, 30*time.Second, 200*time.Millisecond)
	})
	t.Run("DeletedPodsAreReplaced", func(t *testing.T) {
		old := podsOf(t, options.Clientset, "app=infra-backend-v3")[0]
		require.NoError(t, options.Client.Delete(ctx, &old))
		require.Eventually(t, func() bool {
			now := podsOf(t, options.Clientset, "app=infra-backend-v3")
			return len(now) == 1 && now[0].Name != old.Name && now[0].Status.Phase == corev1.PodRunning
		}, 20*time.Second, 200*time.Millisecond)
		_, err := net.DialTimeout("tcp", net.JoinHostPort(old.Status.PodIP, "3000"), time.Second)
		require.Error(t, err)
	})
}

func podsOf(t *testing.T, clientset kubernetes.Interface, selector string) []corev1.Pod {
	pods, err := clientset.CoreV1().Pods(suite.InfrastructureNamespace).List(context.Background(), metav1.ListOptions{LabelSelector: selector})
	require.NoError(t, err)
	require.NotEmpty(t, pods.Items)
	return pods.Items
}

type echoed struct {
	Pod string `json:"pod"`
}

func echo(t *testing.T, address string, port int, path string) echoed {
	scheme, transport := "http", http.DefaultTransport.(*http.Transport).Clone()
	if port == 8443 {
		scheme = "https"
		transport.TLSClientConfig.InsecureSkipVerify = true //nolint:gosec // Only whether there is a certificate matters.
	}
	client := http.Client{Timeout: 10 * time.Second, Transport: transport}
	response, err := client.Get(fmt.Sprintf("%s://%s%s", scheme, net.JoinHostPort(address, fmt.Sprint(port)), path))
	require.NoError(t, err)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	var answer echoed
	require.NoError(t, json.Unmarshal(text, &answer), string(text))
	return answer
}

// acceptAll stands for a controller: everything is accepted, nothing is served.
func acceptAll(ctx context.Context, kubernetes client.Client) {
	for ctx.Err() == nil {
		var classes gatewayv1.GatewayClassList
		if kubernetes.List(ctx, &classes) == nil {
			for i := range classes.Items {
				accept(ctx, kubernetes, &classes.Items[i], &classes.Items[i].Status.Conditions, "Accepted")
			}
		}
		var gateways gatewayv1.GatewayList
		if kubernetes.List(ctx, &gateways) == nil {
			for i := range gateways.Items {
				accept(ctx, kubernetes, &gateways.Items[i], &gateways.Items[i].Status.Conditions, "Accepted", "Programmed")
			}
		}
		time.Sleep(200 * time.Millisecond)
	}
}

// An update that fails is tried again with the next round.
func accept(ctx context.Context, kubernetes client.Client, object client.Object, conditions *[]metav1.Condition, kinds ...string) {
	changed := false
	for _, kind := range kinds {
		changed = meta.SetStatusCondition(conditions, metav1.Condition{
			Type: kind, Status: metav1.ConditionTrue, Reason: kind, ObservedGeneration: object.GetGeneration(),
		}) || changed
	}
	if changed {
		kubernetes.Status().Update(ctx, object) //nolint:errcheck // See above.
	}
}
