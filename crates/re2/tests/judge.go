// Says what Go's regexp makes of the rows of go.jsonl: go run judge.go < go.jsonl > new.jsonl
package main

import (
	"bufio"
	"encoding/json"
	"os"
	"regexp"
)

func main() {
	in := bufio.NewScanner(os.Stdin)
	out := json.NewEncoder(os.Stdout)
	out.SetEscapeHTML(false)
	for in.Scan() {
		var row []string
		if err := json.Unmarshal(in.Bytes(), &row); err != nil {
			panic(err)
		}
		expression, err := regexp.Compile(row[1])
		switch {
		case err != nil:
			row[0] = "error"
		case expression.MatchString(row[2]):
			row[0] = "match"
		default:
			row[0] = "other"
		}
		out.Encode(row)
	}
}
