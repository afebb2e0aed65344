package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"
)

const (
	// Between two looks at the sockets of a process.
	socketPause = 50 * time.Millisecond
	// A process without a probe is ready when its listening sockets have been the same for so many looks: a program
	// with several ports opens one after the other.
	stableLooks  = 4
	probeTimeout = time.Second
)

type container struct {
	spec corev1.Container
	// The directory that the process sees as /.
	root string
	// The path of the program in it.
	program string
	logFile string
}

type process struct {
	command *exec.Cmd
	// Closed when the process has ended.
	ended chan struct{}
}

func (c *container) start(network *podNetwork) (*process, error) {
	output, err := openLog(c.logFile)
	if err != nil {
		return nil, err
	}
	command := &exec.Cmd{
		Path:        c.program,
		Args:        append([]string{c.program}, c.spec.Args...),
		Env:         environment(c.spec.Env),
		Dir:         "/",
		Stdout:      output,
		Stderr:      output,
		SysProcAttr: &syscall.SysProcAttr{Chroot: c.root},
	}
	if err := network.start(command); err != nil {
		output.Close()
		return nil, fmt.Errorf("%s: %w", c.program, err)
	}
	started := &process{command: command, ended: make(chan struct{})}
	go func() {
		command.Wait() //nolint:errcheck // The state says it.
		output.Close()
		close(started.ended)
	}()
	return started, nil
}

// References are resolved by virtual-kubelet before the pod gets here.
func environment(variables []corev1.EnvVar) []string {
	result := []string{"PATH=/", "HOME=/"}
	for _, variable := range variables {
		result = append(result, variable.Name+"="+variable.Value)
	}
	return result
}

// waitOrEnd waits until the process has ended; it ends it when the context does.
func (p *process) waitOrEnd(ctx context.Context) {
	select {
	case <-p.ended:
		return
	case <-ctx.Done():
	}
	p.command.Process.Signal(syscall.SIGTERM) //nolint:errcheck // It may have ended.
	select {
	case <-p.ended:
	case <-time.After(gracePeriodMax):
		p.command.Process.Kill() //nolint:errcheck // It may have ended.
		<-p.ended
	}
}

// watchReadiness reports whether the container is ready, each time that it changes.
func (c *container) watchReadiness(ctx context.Context, process *process, network *podNetwork, report func(bool)) {
	probe := c.spec.ReadinessProbe
	if probe == nil {
		if waitForSockets(ctx, process) {
			report(true)
		}
		return
	}
	period := time.Duration(max(probe.PeriodSeconds, 1)) * time.Second
	pause(ctx, time.Duration(probe.InitialDelaySeconds)*time.Second)
	wasReady, failures := false, int32(0)
	for ctx.Err() == nil {
		ready := c.probe(ctx, probe, network.addresses[0].String()) == nil
		if ready {
			failures = 0
		} else {
			failures++
		}
		if ready != wasReady && (ready || failures >= probe.FailureThreshold) {
			wasReady = ready
			report(ready)
		}
		pause(ctx, period)
	}
}

func (c *container) probe(ctx context.Context, probe *corev1.Probe, address string) error {
	ctx, cancel := context.WithTimeout(ctx, max(probeTimeout, time.Duration(probe.TimeoutSeconds)*time.Second))
	defer cancel()
	switch {
	case probe.HTTPGet != nil:
		scheme := strings.ToLower(string(probe.HTTPGet.Scheme))
		if scheme == "" {
			scheme = "http"
		}
		url := fmt.Sprintf("%s://%s:%d%s", scheme, address, c.port(probe.HTTPGet.Port.String()), probe.HTTPGet.Path)
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			return err
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			return err
		}
		response.Body.Close()
		if response.StatusCode >= 400 {
			return fmt.Errorf("status %d", response.StatusCode)
		}
		return nil
	case probe.TCPSocket != nil:
		connection, err := (&net.Dialer{}).DialContext(ctx, "tcp", net.JoinHostPort(address, strconv.Itoa(c.port(probe.TCPSocket.Port.String()))))
		if err != nil {
			return err
		}
		return connection.Close()
	}
	return fmt.Errorf("probes of this kind are not supported")
}

func (c *container) port(number string) int {
	for _, port := range c.spec.Ports {
		if port.Name == number {
			return int(port.ContainerPort)
		}
	}
	result, _ := strconv.Atoi(number)
	return result
}

func waitForSockets(ctx context.Context, process *process) bool {
	var last []string
	same := 0
	for same < stableLooks {
		pause(ctx, socketPause)
		if ctx.Err() != nil {
			return false
		}
		sockets := listeningSockets(process.command.Process.Pid)
		if len(sockets) > 0 && slices.Equal(sockets, last) {
			same++
		} else {
			same = 0
		}
		last = sockets
	}
	return true
}

// listeningSockets lists the local addresses of the TCP sockets that listen, and of UDP sockets without a peer, in the
// network namespace of a process.
func listeningSockets(pid int) []string {
	const local, peer, state = 1, 2, 3
	var sockets []string
	for _, protocol := range []string{"tcp", "tcp6", "udp", "udp6"} {
		table, err := os.ReadFile(fmt.Sprintf("/proc/%d/net/%s", pid, protocol))
		if err != nil {
			return nil
		}
		for _, line := range strings.Split(string(table), "\n")[1:] {
			fields := strings.Fields(line)
			// 0A is a TCP socket that listens, 07 a UDP socket without a peer.
			if len(fields) > state && (fields[state] == "0A" || fields[state] == "07" && strings.HasSuffix(fields[peer], ":0000")) {
				sockets = append(sockets, protocol+" "+fields[local])
			}
		}
	}
	return sockets
}
