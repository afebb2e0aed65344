package main

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"sync"

	"github.com/virtual-kubelet/virtual-kubelet/errdefs"
	"github.com/virtual-kubelet/virtual-kubelet/node/api"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes"
)

// pods has the pods of the node. Nothing here waits for a pod: each has a goroutine that starts it, watches it, ends it
// and reports its status.
type pods struct {
	// Ends with the kubelet, and all pods with it.
	ctx     context.Context
	options options
	client  kubernetes.Interface
	network *network
	running sync.WaitGroup

	lock   sync.Mutex
	known  map[string]*pod
	notify func(*corev1.Pod)
}

func newPods(ctx context.Context, o options, client kubernetes.Interface, network *network) *pods {
	return &pods{ctx: ctx, options: o, client: client, network: network, known: map[string]*pod{}, notify: func(*corev1.Pod) {}}
}

// wait waits until all pods have ended.
func (p *pods) wait() { p.running.Wait() }

func (p *pods) NotifyPods(_ context.Context, notify func(*corev1.Pod)) {
	p.lock.Lock()
	defer p.lock.Unlock()
	p.notify = notify
}

func (p *pods) CreatePod(_ context.Context, spec *corev1.Pod) error {
	p.lock.Lock()
	defer p.lock.Unlock()
	created := newPod(p, spec)
	p.known[keyOf(spec.Namespace, spec.Name)] = created
	p.running.Go(func() {
		created.run()
		p.forget(created)
	})
	return nil
}

// Labels and annotations may change while a pod runs; nothing that its process sees does.
func (p *pods) UpdatePod(_ context.Context, spec *corev1.Pod) error {
	pod, err := p.find(spec.Namespace, spec.Name)
	if err != nil {
		return err
	}
	pod.update(spec)
	return nil
}

func (p *pods) DeletePod(_ context.Context, spec *corev1.Pod) error {
	pod, err := p.find(spec.Namespace, spec.Name)
	if err != nil {
		return err
	}
	pod.end()
	return nil
}

func (p *pods) GetPod(_ context.Context, namespace, name string) (*corev1.Pod, error) {
	pod, err := p.find(namespace, name)
	if err != nil {
		return nil, err
	}
	return pod.object(), nil
}

func (p *pods) GetPodStatus(ctx context.Context, namespace, name string) (*corev1.PodStatus, error) {
	object, err := p.GetPod(ctx, namespace, name)
	if err != nil {
		return nil, err
	}
	return &object.Status, nil
}

func (p *pods) GetPods(context.Context) ([]*corev1.Pod, error) {
	p.lock.Lock()
	defer p.lock.Unlock()
	var objects []*corev1.Pod
	for _, pod := range p.known {
		objects = append(objects, pod.object())
	}
	return objects, nil
}

func (p *pods) containerLogs(ctx context.Context, namespace, name, container string, options api.ContainerLogOpts) (io.ReadCloser, error) {
	file, err := os.Open(p.logFile(namespace, name, container))
	if os.IsNotExist(err) {
		return nil, errdefs.NotFoundf("the container %s of the pod %s/%s has no log", container, namespace, name)
	}
	if err != nil {
		return nil, err
	}
	pod, _ := p.find(namespace, name)
	return readLog(ctx, file, options, func() bool { return pod == nil || pod.hasEnded() }), nil
}

func (p *pods) logFile(namespace, name, container string) string {
	return filepath.Join(p.options.logs, namespace+"_"+name+"_"+container+".log")
}

func (p *pods) report(object *corev1.Pod) {
	p.lock.Lock()
	notify := p.notify
	p.lock.Unlock()
	notify(object)
}

func (p *pods) find(namespace, name string) (*pod, error) {
	p.lock.Lock()
	defer p.lock.Unlock()
	if pod, known := p.known[keyOf(namespace, name)]; known {
		return pod, nil
	}
	return nil, errdefs.NotFoundf("the pod %s/%s is not on this node", namespace, name)
}

// Another pod may have the name by now.
func (p *pods) forget(ended *pod) {
	object := ended.object()
	key := keyOf(object.Namespace, object.Name)
	p.lock.Lock()
	defer p.lock.Unlock()
	if p.known[key] == ended {
		delete(p.known, key)
	}
}

func keyOf(namespace, name string) string { return namespace + "/" + name }
