package main

import (
	"context"
	"fmt"
	"log"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	// Between two looks for what a pod's volumes still lack.
	volumePause = 200 * time.Millisecond
	// Between two starts of a container that ended by itself.
	restartPause = 2 * time.Second
	// A container that does not end after SIGTERM is killed. The pods of the rig have nothing to finish for longer.
	gracePeriodMax = 5 * time.Second
)

// pod is one pod from its creation until its end. Its goroutine alone changes the status.
type pod struct {
	pods *pods
	// Ends when the pod is deleted or the kubelet stops.
	ctx context.Context
	end context.CancelFunc

	lock  sync.Mutex
	spec  *corev1.Pod
	ended bool
}

func newPod(pods *pods, spec *corev1.Pod) *pod {
	ctx, end := context.WithCancel(pods.ctx)
	p := &pod{pods: pods, ctx: ctx, end: end, spec: spec.DeepCopy()}
	now := metav1.Now()
	status := &p.spec.Status
	status.Phase = corev1.PodPending
	status.StartTime = &now
	for _, address := range pods.options.addresses {
		status.HostIPs = append(status.HostIPs, corev1.HostIP{IP: address.String()})
	}
	status.HostIP = status.HostIPs[0].IP
	for _, container := range spec.Spec.Containers {
		status.ContainerStatuses = append(status.ContainerStatuses, corev1.ContainerStatus{
			Name: container.Name, Image: container.Image, State: waiting("ContainerCreating", ""),
		})
	}
	setConditions(status, corev1.ConditionTrue, corev1.PodScheduled, corev1.PodInitialized, corev1.PodReadyToStartContainers)
	setConditions(status, corev1.ConditionFalse, corev1.ContainersReady, corev1.PodReady)
	return p
}

func (p *pod) object() *corev1.Pod {
	p.lock.Lock()
	defer p.lock.Unlock()
	return p.spec.DeepCopy()
}

func (p *pod) update(spec *corev1.Pod) {
	p.lock.Lock()
	defer p.lock.Unlock()
	status := p.spec.Status
	p.spec = spec.DeepCopy()
	p.spec.Status = status
}

func (p *pod) hasEnded() bool {
	p.lock.Lock()
	defer p.lock.Unlock()
	return p.ended
}

func (p *pod) changeStatus(change func(*corev1.PodStatus)) {
	p.lock.Lock()
	change(&p.spec.Status)
	object := p.spec.DeepCopy()
	p.lock.Unlock()
	p.pods.report(object)
}

func (p *pod) run() {
	defer p.end()
	object := p.object()
	name := keyOf(object.Namespace, object.Name)
	roots := filepath.Join(p.pods.options.roots, string(object.UID))
	defer os.RemoveAll(roots)
	if err := p.runContainers(object, roots); err != nil {
		log.Printf("%s: %v", name, err)
		p.changeStatus(func(status *corev1.PodStatus) {
			status.Message = err.Error()
			for i := range status.ContainerStatuses {
				status.ContainerStatuses[i].State = waiting("CreateContainerError", err.Error())
			}
		})
		<-p.ctx.Done()
	}
	p.lock.Lock()
	p.ended = true
	p.lock.Unlock()
	p.changeStatus(func(status *corev1.PodStatus) {
		status.Phase = corev1.PodSucceeded
		setConditions(status, corev1.ConditionFalse, corev1.ContainersReady, corev1.PodReady)
		for i := range status.ContainerStatuses {
			container := &status.ContainerStatuses[i]
			container.Ready = false
			container.State = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{Reason: "Completed", FinishedAt: metav1.Now()}}
		}
	})
	log.Printf("%s: ended", name)
	p.remove(object)
}

// remove removes a pod that has ended from the API server. virtual-kubelet would do it only after the grace period of 30
// seconds, however early the pod ended.
func (p *pod) remove(object *corev1.Pod) {
	options := metav1.NewDeleteOptions(0)
	options.Preconditions = metav1.NewUIDPreconditions(string(object.UID))
	err := p.pods.client.CoreV1().Pods(object.Namespace).Delete(p.pods.ctx, object.Name, *options)
	if err != nil && p.pods.ctx.Err() == nil && !errors.IsNotFound(err) {
		log.Printf("%s/%s: %v", object.Namespace, object.Name, err)
	}
}

// runContainers returns when the pod shall end and its processes have ended, or with the reason why they cannot start.
func (p *pod) runContainers(object *corev1.Pod, roots string) error {
	files, err := p.waitForVolumes(object)
	if err != nil {
		return nil
	}
	containers := make([]*container, len(object.Spec.Containers))
	for i, spec := range object.Spec.Containers {
		root := filepath.Join(roots, spec.Name)
		program, known := p.pods.options.programOf(spec.Image)
		if !known {
			return fmt.Errorf("no program stands for the image %s", spec.Image)
		}
		if len(spec.Command) > 0 {
			return fmt.Errorf("commands of containers are not supported")
		}
		if err := makeRoot(root, program, spec, files); err != nil {
			return err
		}
		containers[i] = &container{
			spec: spec, root: root, program: "/" + filepath.Base(program),
			logFile: p.pods.logFile(object.Namespace, object.Name, spec.Name),
		}
	}
	network, err := p.pods.network.connect()
	if err != nil {
		return err
	}
	defer p.pods.network.disconnect(network)
	p.changeStatus(func(status *corev1.PodStatus) {
		for _, address := range network.addresses {
			status.PodIPs = append(status.PodIPs, corev1.PodIP{IP: net.IP(address.AsSlice()).String()})
		}
		status.PodIP = status.PodIPs[0].IP
	})
	var all sync.WaitGroup
	for i, container := range containers {
		all.Go(func() { p.keepRunning(container, network, i) })
	}
	all.Wait()
	return nil
}

func (p *pod) waitForVolumes(object *corev1.Pod) (map[string]map[string][]byte, error) {
	volumes := volumes{p.pods.client, object}
	said := ""
	for {
		files, err := volumes.read(p.ctx)
		if err == nil || p.ctx.Err() != nil {
			return files, p.ctx.Err()
		}
		if err.Error() != said {
			said = err.Error()
			p.changeStatus(func(status *corev1.PodStatus) {
				for i := range status.ContainerStatuses {
					status.ContainerStatuses[i].State = waiting("ContainerCreating", said)
				}
			})
		}
		pause(p.ctx, volumePause)
	}
}

// keepRunning starts a container again whenever it ends, until the pod shall end.
func (p *pod) keepRunning(container *container, network *podNetwork, index int) {
	for restarts := int32(0); p.ctx.Err() == nil; restarts++ {
		process, err := container.start(network)
		if err != nil {
			log.Printf("%s: %v", container.root, err)
			p.changeContainer(index, func(status *corev1.ContainerStatus) { status.State = waiting("RunContainerError", err.Error()) })
			pause(p.ctx, restartPause)
			continue
		}
		p.changeContainer(index, func(status *corev1.ContainerStatus) {
			started := true
			status.Started = &started
			status.RestartCount = restarts
			status.ContainerID = fmt.Sprintf("process://%d", process.command.Process.Pid)
			status.State = corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.Now()}}
		})
		watching, stop := context.WithCancel(p.ctx)
		go container.watchReadiness(watching, process, network, func(ready bool) {
			p.changeContainer(index, func(status *corev1.ContainerStatus) { status.Ready = ready })
		})
		process.waitOrEnd(p.ctx)
		stop()
		if p.ctx.Err() == nil {
			p.changeContainer(index, func(status *corev1.ContainerStatus) {
				status.Ready = false
				status.State = waiting("CrashLoopBackOff", "the process has ended: "+process.command.ProcessState.String())
			})
			pause(p.ctx, restartPause)
		}
	}
}

func (p *pod) changeContainer(index int, change func(*corev1.ContainerStatus)) {
	p.changeStatus(func(status *corev1.PodStatus) {
		change(&status.ContainerStatuses[index])
		ready := corev1.ConditionTrue
		for _, container := range status.ContainerStatuses {
			if !container.Ready {
				ready = corev1.ConditionFalse
			}
			if container.State.Running != nil {
				status.Phase = corev1.PodRunning
			}
		}
		setConditions(status, ready, corev1.ContainersReady, corev1.PodReady)
	})
}

func setConditions(status *corev1.PodStatus, value corev1.ConditionStatus, kinds ...corev1.PodConditionType) {
	for _, kind := range kinds {
		condition := corev1.PodCondition{Type: kind, Status: value, LastTransitionTime: metav1.Now()}
		place := -1
		for i, present := range status.Conditions {
			if present.Type == kind {
				place = i
			}
		}
		switch {
		case place < 0:
			status.Conditions = append(status.Conditions, condition)
		case status.Conditions[place].Status != value:
			status.Conditions[place] = condition
		}
	}
}

func waiting(reason, message string) corev1.ContainerState {
	return corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message}}
}

func pause(ctx context.Context, duration time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(duration):
	}
}
