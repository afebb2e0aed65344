// An official Go client of the Model Context Protocol. Usage: mcp_judge URL PREFIX [VERSION]
//
// Does what clients do, answers what servers ask, and prints what it has found, a line for each. It knows the tools of the official example servers.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sort"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func say(name string, value any) {
	line, _ := json.Marshal(map[string]any{"name": name, "value": value})
	fmt.Println(string(line))
}

// The text of a result, or the code of an error.
func text(result *mcp.CallToolResult, err error) any {
	if err != nil {
		return code(err)
	}
	texts := []any{}
	for _, part := range result.Content {
		if part, ok := part.(*mcp.TextContent); ok {
			texts = append(texts, part.Text)
		} else {
			texts = append(texts, fmt.Sprintf("%T", part))
		}
	}
	return map[string]any{"texts": texts, "isError": result.IsError, "structured": result.StructuredContent}
}

func code(err error) any {
	var wire *jsonrpc.Error
	if errors.As(err, &wire) {
		return wire.Code
	}
	return err.Error()
}

type seen struct {
	sync.Mutex
	counts map[string]int
}

func (seen *seen) add(kind string) {
	seen.Lock()
	defer seen.Unlock()
	seen.counts[kind]++
}

func main() {
	url, prefix, version := os.Args[1], os.Args[2], ""
	if len(os.Args) > 3 {
		version = os.Args[3]
	}
	ctx, cancel := context.WithTimeout(context.Background(), 90*time.Second)
	defer cancel()
	seen := &seen{counts: map[string]int{}}
	client := mcp.NewClient(&mcp.Implementation{Name: "judge", Version: "1"}, &mcp.ClientOptions{
		CreateMessageHandler: func(context.Context, *mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) {
			seen.add("sampling")
			return &mcp.CreateMessageResult{Role: "assistant", Model: "judge", Content: &mcp.TextContent{Text: "sampled here"}}, nil
		},
		ElicitationHandler: func(_ context.Context, request *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			seen.add("elicitation " + request.Params.Mode)
			return &mcp.ElicitResult{Action: "decline"}, nil
		},
		Capabilities: &mcp.ClientCapabilities{
			RootsV2:     &mcp.RootCapabilities{ListChanged: true},
			Sampling:    &mcp.SamplingCapabilities{},
			Elicitation: &mcp.ElicitationCapabilities{Form: &mcp.FormElicitationCapabilities{}, URL: &mcp.URLElicitationCapabilities{}},
		},
		ToolListChangedHandler:      func(context.Context, *mcp.ToolListChangedRequest) { seen.add("tools changed") },
		PromptListChangedHandler:    func(context.Context, *mcp.PromptListChangedRequest) { seen.add("prompts changed") },
		ResourceUpdatedHandler:      func(context.Context, *mcp.ResourceUpdatedNotificationRequest) { seen.add("updated") },
		LoggingMessageHandler:       func(context.Context, *mcp.LoggingMessageRequest) { seen.add("log") },
		ProgressNotificationHandler: func(context.Context, *mcp.ProgressNotificationClientRequest) { seen.add("progress") },
	})
	client.AddRoots(&mcp.Root{URI: "file:///judged", Name: "judged"})
	session, err := client.Connect(ctx, &mcp.StreamableClientTransport{Endpoint: url}, &mcp.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		say("end", err.Error())
		return
	}
	begun := session.InitializeResult()
	say("version", begun.ProtocolVersion)
	say("capabilities", begun.Capabilities)
	_ = session.SetLoggingLevel(ctx, &mcp.SetLoggingLevelParams{Level: "debug"})

	tools := map[string]bool{}
	for tool, err := range session.Tools(ctx, nil) {
		if err != nil {
			say("tools", code(err))
			break
		}
		if name, ok := strings.CutPrefix(tool.Name, prefix); ok {
			tools[name] = true
		}
	}
	say("tools", names(tools))
	calls := map[string]map[string]any{
		"echo": {"message": "hello"}, "get-sum": {"a": 2, "b": 3}, "get-structured-content": {"location": "Chicago"}, "get-roots-list": {},
		"trigger-long-running-operation": {"duration": 1, "steps": 4}, "trigger-sampling-request": {"prompt": "x", "maxTokens": 10},
		"trigger-elicitation-request": {}, "trigger-url-elicitation": {"url": "http://127.0.0.1/", "elicitationId": "e1"},
		"test_simple_text": {}, "test_image_content": {}, "test_error_handling": {}, "test_tool_with_logging": {}, "test_tool_with_progress": {},
		"test_sampling": {"prompt": "x"}, "test_elicitation": {"message": "x"}, "test_reconnection": {}, "test_x_mcp_header": {"region": "eu"},
		"test_input_required_result_elicitation": {}, "test_input_required_result_sampling": {}, "test_input_required_result_list_roots": {},
	}
	all := map[string]bool{}
	for name := range calls {
		all[name] = tools[name]
	}
	for _, name := range names(all) {
		asked, done := context.WithTimeout(ctx, 15*time.Second)
		params := &mcp.CallToolParams{Name: prefix + name, Arguments: calls[name]}
		params.SetProgressToken("token-" + name)
		seen.counts = map[string]int{}
		result, err := session.CallTool(asked, params)
		say("call of "+name, text(result, err))
		time.Sleep(100 * time.Millisecond)
		seen.Lock()
		if len(seen.counts) > 0 {
			say("seen in "+name, seen.counts)
		}
		seen.Unlock()
		done()
	}
	_, err = session.CallTool(ctx, &mcp.CallToolParams{Name: prefix + "nothing"})
	say("unknown tool", err == nil || code(err) == int64(-32602))
	var first string
	count := 0
	for resource, err := range session.Resources(ctx, nil) {
		if err != nil {
			say("resources", code(err))
			break
		}
		if first == "" {
			first = resource.URI
		}
		count++
	}
	say("resources", count > 0)
	if first != "" {
		read, err := session.ReadResource(ctx, &mcp.ReadResourceParams{URI: first})
		say("read", err == nil && read.Contents[0].URI == first)
		err = session.Subscribe(ctx, &mcp.SubscribeParams{URI: first})
		say("subscribe", err == nil)
		if err == nil {
			say("unsubscribe", session.Unsubscribe(ctx, &mcp.UnsubscribeParams{URI: first}) == nil)
		}
	}
	prompts := map[string]bool{}
	for prompt, err := range session.Prompts(ctx, nil) {
		if err != nil {
			say("prompts", code(err))
			break
		}
		if name, ok := strings.CutPrefix(prompt.Name, prefix); ok {
			prompts[name] = true
		}
	}
	say("prompts", names(prompts))
	for name, values := range map[string]map[string]string{"args-prompt": {"city": "Bonn"}, "test_prompt_with_arguments": {"arg1": "a", "arg2": "b"}} {
		if prompts[name] {
			prompt, err := session.GetPrompt(ctx, &mcp.GetPromptParams{Name: prefix + name, Arguments: values})
			if err != nil {
				say("prompt", code(err))
			} else {
				say("prompt", prompt.Messages[0].Content)
			}
		}
	}
	if tools["test_trigger_tool_change"] {
		seen.counts = map[string]int{}
		_, err := session.CallTool(ctx, &mcp.CallToolParams{Name: prefix + "test_trigger_tool_change"})
		time.Sleep(3 * time.Second)
		seen.Lock()
		say("told of a changed tool", err == nil && seen.counts["tools changed"] > 0)
		seen.Unlock()
	}
	if version != "2026-07-28" {
		say("ping", session.Ping(ctx, nil) == nil)
	}
	if tools["trigger-long-running-operation"] {
		asked, stop := context.WithTimeout(ctx, 500*time.Millisecond)
		_, err := session.CallTool(asked, &mcp.CallToolParams{Name: prefix + "trigger-long-running-operation", Arguments: map[string]any{"duration": 5, "steps": 5}})
		stop()
		say("given up", errors.Is(err, context.DeadlineExceeded))
		result, err := session.CallTool(ctx, &mcp.CallToolParams{Name: prefix + "echo", Arguments: map[string]any{"message": "still here"}})
		say("after it", text(result, err))
	}
	say("end", session.Close() == nil)
}

func names(set map[string]bool) []string {
	found := []string{}
	for name, is := range set {
		if is {
			found = append(found, name)
		}
	}
	sort.Strings(found)
	return found
}
