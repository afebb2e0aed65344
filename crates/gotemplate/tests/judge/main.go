// Renders the templates of cases.json with Go's text/template and sprig, and writes golden.json: what the tests hold the crate against.
// Run it in this folder, with Go 1.25 or later: go run . <../cases.json >../golden.json
package main

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"os"
	"text/template"
	"time"

	"github.com/Masterminds/sprig/v3"
	"github.com/clbanning/mxj"
)

type testCase struct {
	Template string `json:"template"`
	// The name of a document, or a document in XML.
	Data string `json:"data,omitempty"`
	XML  string `json:"xml,omitempty"`
}

type result struct {
	testCase
	Output string `json:"output,omitempty"`
	// "read", "parse" or "render": where Go returned an error.
	Fails string `json:"fails,omitempty"`
	Error string `json:"error,omitempty"`
}

func main() {
	var input struct {
		Data  map[string]json.RawMessage `json:"data"`
		Cases []testCase                 `json:"cases"`
	}
	if err := json.NewDecoder(os.Stdin).Decode(&input); err != nil {
		panic(err)
	}
	// As Tyk does. Dates print in the zone of the machine: the tests' host has the same one.
	functions := sprig.GenericFuncMap()
	delete(functions, "env")
	delete(functions, "expandenv")
	local, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		panic(err)
	}
	time.Local = local
	functions["jsonMarshal"] = func(value any) (string, error) {
		text, err := json.Marshal(value)
		return string(text), err
	}
	results := []result{}
	functions["xmlMarshal"] = xmlMarshal
	mxj.XMLEscapeChars(true)
	for _, one := range input.Cases {
		// Read anew each time: set and merge change a document.
		var data any
		if one.XML != "" {
			document, err := mxj.NewMapXml([]byte(one.XML))
			if err != nil {
				results = append(results, result{testCase: one, Fails: "read", Error: err.Error()})
				continue
			}
			data = map[string]any(document)
		} else if err := json.Unmarshal(input.Data[one.Data], &data); err != nil {
			panic(err)
		}
		results = append(results, render(one, data, functions))
	}
	encoder := json.NewEncoder(os.Stdout)
	encoder.SetIndent("", " ")
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(results); err != nil {
		panic(err)
	}
}

func render(one testCase, data any, functions template.FuncMap) result {
	rendered := result{testCase: one}
	parsed, err := template.New("").Funcs(functions).Parse(one.Template)
	if err != nil {
		rendered.Fails, rendered.Error = "parse", err.Error()
		return rendered
	}
	var out bytes.Buffer
	if err := parsed.Execute(&out, data); err != nil {
		rendered.Fails, rendered.Error = "render", err.Error()
		return rendered
	}
	rendered.Output = out.String()
	return rendered
}

// A map goes through mxj, as in Tyk, and anything else through Go's own encoder.
func xmlMarshal(value any) (string, error) {
	if document, is := value.(map[string]any); is {
		text, err := mxj.Map(document).Xml()
		return string(text), err
	}
	text, err := xml.MarshalIndent(value, "", "  ")
	return string(text), err
}
