// Package memorynet is a network that lives in memory: a test's services and their clients meet over it without sockets, so
// that the time of both can be held (testing/synctest).
package memorynet

import (
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"sync"
	"time"
)

// URL is where a Network's service is found. Its host is a loopback name: proxies are left out, and nobody is warned of plain HTTP.
const URL = "http://localhost:1"

// Network is one service at the other end of every connection. It is safe for concurrent use.
type Network struct {
	server   *http.Server
	incoming chan net.Conn
	down     chan struct{}
	closing  sync.Once
	served   chan struct{}
}

// Serve starts a service. Close ends it.
func Serve(handler http.Handler) *Network {
	n := &Network{
		server: &http.Server{
			Handler: handler, ReadHeaderTimeout: time.Minute,
			ErrorLog: log.New(io.Discard, "", 0), // services of tests break connections on purpose
		},
		incoming: make(chan net.Conn), down: make(chan struct{}), served: make(chan struct{}),
	}
	go func() {
		defer close(n.served)
		_ = n.server.Serve(listener{n}) // ends with Close
	}()
	return n
}

// Dial connects to the service, whatever the address.
func (n *Network) Dial(ctx context.Context, _, _ string) (net.Conn, error) {
	here, there := net.Pipe()
	select {
	case n.incoming <- there:
		return here, nil
	case <-n.down:
		return nil, &net.OpError{Op: "dial", Net: "memory", Err: errors.New("connection refused")}
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// Close ends the service and all its connections.
func (n *Network) Close() {
	n.closing.Do(func() { close(n.down) })
	_ = n.server.Close() // nothing is left to lose
	<-n.served
}

// listener is the service's end of a Network.
type listener struct{ *Network }

func (l listener) Accept() (net.Conn, error) {
	select {
	case conn := <-l.incoming:
		return conn, nil
	case <-l.down:
		return nil, net.ErrClosed
	}
}

func (l listener) Close() error {
	l.closing.Do(func() { close(l.down) })
	return nil
}

func (l listener) Addr() net.Addr { return address{} }

type address struct{}

func (address) Network() string { return "memory" }
func (address) String() string  { return "memory:1" }
