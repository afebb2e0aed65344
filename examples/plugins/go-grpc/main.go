// A server of plugins: adds a header to each request, lets callers in who know the password, and adds a header to each response.
// README.md says how the package coprocess is made.
package main

import (
	"context"
	"fmt"
	"log"
	"net"
	"os"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"hello/coprocess"
)

// addHeader is a pre hook: all later steps and the upstream see the header.
func addHeader(call *coprocess.Object) {
	call.Request.SetHeaders = map[string]string{"X-Hello": "from Go"}
}

// checkPassword is the auth_check hook: it returns a session, or refuses.
func checkPassword(call *coprocess.Object) {
	if call.Request.Headers["Authorization"] != "open sesame" {
		call.Request.ReturnOverrides = &coprocess.ReturnOverrides{ResponseCode: 403, ResponseError: "Not authorised"}
		return
	}
	call.Session = &coprocess.SessionState{Rate: 100, Per: 1}
	call.Metadata = map[string]string{"token": "ali-baba"}
}

// signResponse is a response hook: the client sees another header.
func signResponse(call *coprocess.Object) {
	call.Response.Headers["X-Bye"] = "from Go"
}

var hooks = map[string]func(*coprocess.Object){
	"add_header":     addHeader,
	"check_password": checkPassword,
	"sign_response":  signResponse,
}

type dispatcher struct {
	coprocess.UnimplementedDispatcherServer
}

func (dispatcher) Dispatch(_ context.Context, call *coprocess.Object) (*coprocess.Object, error) {
	hook, found := hooks[call.HookName]
	if !found {
		return nil, status.Errorf(codes.Unimplemented, "there is no hook %s", call.HookName)
	}
	hook(call)
	return call, nil
}

func (dispatcher) DispatchEvent(_ context.Context, event *coprocess.Event) (*coprocess.EventReply, error) {
	fmt.Println(event.Payload)
	return &coprocess.EventReply{}, nil
}

func main() {
	port := "5555"
	if len(os.Args) > 1 {
		port = os.Args[1]
	}
	listener, err := net.Listen("tcp", "127.0.0.1:"+port)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("listening on", listener.Addr().(*net.TCPAddr).Port)
	server := grpc.NewServer()
	coprocess.RegisterDispatcherServer(server, dispatcher{})
	log.Fatal(server.Serve(listener))
}
