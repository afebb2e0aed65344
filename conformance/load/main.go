// Command load sends requests at a steady rate until it is told to end, and then says how many had which outcome.
package main

import (
	"crypto/tls"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strconv"
	"sync"
	"syscall"
	"time"
)

func main() {
	address := flag.String("address", "", "host and port of the gateway")
	host := flag.String("host", "", "host of the requests")
	secure := flag.Bool("tls", false, "speak TLS; the certificate is not checked")
	rate := flag.Int("rate", 1000, "requests a second")
	connections := flag.Int("connections", 32, "connections at once")
	fresh := flag.Int("fresh", 50, "requests after which a connection is opened anew")
	flag.Parse()

	ended := make(chan os.Signal, 1)
	signal.Notify(ended, syscall.SIGTERM)
	tickets := make(chan struct{}, *rate)
	done := make(chan struct{})
	go issue(tickets, *rate, done)

	var lock sync.Mutex
	outcomes := map[string]int{}
	var workers sync.WaitGroup
	for range *connections {
		workers.Go(func() {
			own := work(tickets, done, *address, *host, *secure, *fresh)
			lock.Lock()
			defer lock.Unlock()
			for outcome, count := range own {
				outcomes[outcome] += count
			}
		})
	}
	<-ended
	close(done)
	workers.Wait()
	if err := json.NewEncoder(os.Stdout).Encode(outcomes); err != nil {
		panic(err)
	}
}

// issue gives as many tickets as the rate says. Those that nobody takes for a second are lost: the machine is too slow.
func issue(tickets chan<- struct{}, rate int, done <-chan struct{}) {
	const steps = 100
	ticker := time.NewTicker(time.Second / steps)
	defer ticker.Stop()
	for {
		select {
		case <-done:
			return
		case <-ticker.C:
			for range rate / steps {
				select {
				case tickets <- struct{}{}:
				default:
				}
			}
		}
	}
}

func work(tickets <-chan struct{}, done <-chan struct{}, address, host string, secure bool, fresh int) map[string]int {
	scheme := "http"
	if secure {
		scheme = "https"
	}
	transport := &http.Transport{
		DialContext:     (&net.Dialer{Timeout: 10 * time.Second}).DialContext,
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true, ServerName: host},
	}
	client := &http.Client{Transport: transport, Timeout: 30 * time.Second}
	outcomes := map[string]int{}
	for sent := 1; ; sent++ {
		select {
		case <-done:
			return outcomes
		case <-tickets:
		}
		outcomes[ask(client, scheme+"://"+address+"/", host)]++
		if sent%fresh == 0 {
			transport.CloseIdleConnections()
		}
	}
}

func ask(client *http.Client, url, host string) string {
	request, err := http.NewRequest(http.MethodPost, url, nil)
	if err != nil {
		return err.Error()
	}
	request.Host = host
	response, err := client.Do(request)
	if err != nil {
		return fmt.Sprintf("%T %v", err, err)
	}
	defer response.Body.Close()
	if _, err := io.Copy(io.Discard, response.Body); err != nil {
		return fmt.Sprintf("body: %v", err)
	}
	return strconv.Itoa(response.StatusCode)
}
