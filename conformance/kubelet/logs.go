package main

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/virtual-kubelet/virtual-kubelet/node/api"
)

// Between two looks for more of a log that is followed.
const followPause = 200 * time.Millisecond

// logWriter writes each line of a container to a file, with its time before it.
type logWriter struct {
	lock    sync.Mutex
	file    *os.File
	pending []byte
}

func openLog(path string) (*logWriter, error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	return &logWriter{file: file}, err
}

func (l *logWriter) Write(data []byte) (int, error) {
	l.lock.Lock()
	defer l.lock.Unlock()
	l.pending = append(l.pending, data...)
	var output []byte
	for {
		end := bytes.IndexByte(l.pending, '\n')
		if end < 0 {
			break
		}
		output = time.Now().UTC().AppendFormat(output, time.RFC3339Nano)
		output = append(output, ' ')
		output = append(output, l.pending[:end+1]...)
		l.pending = l.pending[end+1:]
	}
	if _, err := l.file.Write(output); err != nil {
		return 0, err
	}
	return len(data), nil
}

func (l *logWriter) Close() error { return l.file.Close() }

// readLog reads the lines that the options ask for. A log that is followed ends with its pod.
func readLog(ctx context.Context, file *os.File, options api.ContainerLogOpts, ended func() bool) io.ReadCloser {
	since := options.SinceTime
	if options.SinceSeconds > 0 {
		since = time.Now().Add(-time.Duration(options.SinceSeconds) * time.Second)
	}
	reader, writer := io.Pipe()
	go func() {
		defer file.Close()
		writer.CloseWithError(copyLog(ctx, writer, bufio.NewReader(file), since, options, ended))
	}()
	if options.LimitBytes > 0 {
		return struct {
			io.Reader
			io.Closer
		}{io.LimitReader(reader, int64(options.LimitBytes)), reader}
	}
	return reader
}

func copyLog(ctx context.Context, writer io.Writer, lines *bufio.Reader, since time.Time, options api.ContainerLogOpts, ended func() bool) error {
	// With a tail, what is there already is held back until its end is known.
	var tail []string
	held := options.Tail > 0
	partial := ""
	for {
		atEnd := ended()
		part, err := lines.ReadString('\n')
		partial += part
		if err == nil {
			line := selectLine(partial, since, options.Timestamps)
			partial = ""
			switch {
			case line == "":
			case held:
				tail = append(tail, line)[max(0, len(tail)+1-options.Tail):]
			default:
				if _, err := io.WriteString(writer, line); err != nil {
					return err
				}
			}
			continue
		}
		if err != io.EOF {
			return err
		}
		if held {
			held = false
			if _, err := io.WriteString(writer, strings.Join(tail, "")); err != nil {
				return err
			}
		}
		if !options.Follow || atEnd || ctx.Err() != nil {
			return nil
		}
		pause(ctx, followPause)
	}
}

func selectLine(line string, since time.Time, timestamps bool) string {
	stamp, text, _ := strings.Cut(line, " ")
	when, err := time.Parse(time.RFC3339Nano, stamp)
	switch {
	case err == nil && when.Before(since):
		return ""
	case timestamps:
		return line
	}
	return text
}
