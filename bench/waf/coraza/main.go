// Coraza as one of several engines that bench/waf.py asks: coraza DIRECTORY PREAMBLE SETTINGS RUNS. Reads requests, and prints a line for
// each: the rules that match, or, if RUNS is not 0, the CPU time of one inspection in nanoseconds.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"syscall"

	"github.com/corazawaf/coraza/v3"
	"github.com/corazawaf/coraza/v3/types"
)

type pair struct{ name, value string }

type message struct {
	method, target, protocol string
	headers                  []pair
	body                     []byte
	status                   int
	answered                 []pair
	answer                   []byte
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// A piece of bytes: their number, a colon, and they.
func piece(input *bufio.Reader) ([]byte, error) {
	digits, err := input.ReadString(':')
	if err != nil {
		return nil, err
	}
	length, err := strconv.Atoi(digits[:len(digits)-1])
	check(err)
	bytes := make([]byte, length)
	_, err = io.ReadFull(input, bytes)
	check(err)
	return bytes, nil
}

func text(input *bufio.Reader) string {
	bytes, err := piece(input)
	check(err)
	return string(bytes)
}

func number(input *bufio.Reader) int {
	value, err := strconv.Atoi(text(input))
	check(err)
	return value
}

func pairs(input *bufio.Reader) []pair {
	all := make([]pair, number(input))
	for i := range all {
		all[i] = pair{text(input), text(input)}
	}
	return all
}

func read(input *bufio.Reader) (*message, bool) {
	method, err := piece(input)
	if err == io.EOF {
		return nil, false
	}
	check(err)
	m := &message{method: string(method), target: text(input), protocol: text(input), headers: pairs(input)}
	m.body = []byte(text(input))
	m.status, m.answered = number(input), pairs(input)
	m.answer = []byte(text(input))
	return m, true
}

func inspect(waf coraza.WAF, m *message) {
	tx := waf.NewTransaction()
	defer tx.Close()
	tx.ProcessConnection("127.0.0.1", 12345, "127.0.0.1", 80)
	tx.ProcessURI(m.target, m.method, m.protocol)
	for _, header := range m.headers {
		tx.AddRequestHeader(header.name, header.value)
	}
	tx.ProcessRequestHeaders()
	if len(m.body) > 0 {
		_, _, err := tx.WriteRequestBody(m.body)
		check(err)
	}
	_, err := tx.ProcessRequestBody()
	check(err)
	if m.status != 0 {
		for _, header := range m.answered {
			tx.AddResponseHeader(header.name, header.value)
		}
		tx.ProcessResponseHeaders(m.status, "HTTP/1.1")
		if tx.IsResponseBodyProcessable() {
			_, _, err := tx.WriteResponseBody(m.answer)
			check(err)
		}
		_, err = tx.ProcessResponseBody()
		check(err)
	}
	tx.ProcessLogging()
}

// CPU time of the process: what its collector of garbage takes belongs to it.
func cpu() int64 {
	var used syscall.Rusage
	check(syscall.Getrusage(syscall.RUSAGE_SELF, &used))
	return used.Utime.Nano() + used.Stime.Nano()
}

func main() {
	directory, preamble, settings := os.Args[1], os.Args[2], os.Args[3]
	runs, err := strconv.ParseInt(os.Args[4], 10, 64)
	check(err)
	matched := []any{}
	note := func(rule types.MatchedRule) {
		matched = append(matched, []any{rule.Rule().ID(), rule.Message()})
	}
	config := coraza.NewWAFConfig().WithDirectivesFromFile(preamble)
	config = config.WithDirectivesFromFile(filepath.Join(directory, "rules/@crs-setup.conf.example")).WithDirectivesFromFile(settings)
	files, err := filepath.Glob(filepath.Join(directory, "rules/@owasp_crs/*.conf"))
	check(err)
	sort.Strings(files)
	for _, file := range files {
		config = config.WithDirectivesFromFile(file)
	}
	if runs == 0 {
		config = config.WithErrorCallback(note)
	}
	waf, err := coraza.NewWAF(config)
	check(err)
	input, out := bufio.NewReader(os.Stdin), bufio.NewWriter(os.Stdout)
	defer out.Flush()
	for {
		m, more := read(input)
		if !more {
			return
		}
		inspect(waf, m)
		if runs == 0 {
			line, err := json.Marshal(matched)
			check(err)
			fmt.Fprintf(out, "%s\n", line)
			matched = []any{}
			continue
		}
		before := cpu()
		for range runs {
			inspect(waf, m)
		}
		fmt.Fprintln(out, (cpu()-before)/runs)
	}
}
