// An application on Go's own HTTP server.
package main

import (
	"encoding/json"
	"io"
	"net/http"
	"os"
	"strings"
)

type line struct {
	Method  string              `json:"method"`
	Target  string              `json:"target"`
	Headers map[string][]string `json:"headers"`
	Body    string              `json:"body"`
}

func latin1(octets []byte) string {
	runes := make([]rune, len(octets))
	for at, octet := range octets {
		runes[at] = rune(octet)
	}
	return string(runes)
}

func main() {
	out, err := os.OpenFile(os.Getenv("RECORD"), os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o644)
	if err != nil {
		panic(err)
	}
	handler := func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		headers := map[string][]string{"host": {r.Host}}
		for name, values := range r.Header {
			name = strings.ReplaceAll(strings.ToLower(name), "_", "-")
			for _, value := range values {
				headers[name] = append(headers[name], latin1([]byte(value)))
			}
		}
		text, _ := json.Marshal(line{r.Method, r.RequestURI, headers, latin1(body)})
		out.Write(append(text, '\n'))
		io.WriteString(w, "ok")
	}
	panic(http.ListenAndServe("127.0.0.1:"+os.Args[1], http.HandlerFunc(handler)))
}
