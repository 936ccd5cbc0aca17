// Package fakeservice serves the fake services of its sub-packages, or any handler, on loopback.
package fakeservice

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"time"
)

// Loopback is the address of a free port that only this machine reaches.
const Loopback = "127.0.0.1:0"

// stopGrace bounds how long Stop lets requests end by themselves, once their contexts have been ended.
const stopGrace = time.Second

// Server is a handler that is being served.
type Server struct {
	URL string // scheme, host and port, without a slash at the end

	server *http.Server
	cancel context.CancelFunc
	ended  chan struct{}
	err    error // why it ended; set before ended is closed
}

// Listen serves a handler at an address ("host:port"; "" is Loopback) until Stop.
func Listen(ctx context.Context, address string, handler http.Handler) (*Server, error) {
	if address == "" {
		address = Loopback
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("listen at %s: %w", address, err)
	}
	// Requests outlive the ctx of the one who started the server: only Stop ends them.
	base, cancel := context.WithCancel(context.WithoutCancel(ctx))
	s := &Server{
		URL: "http://" + listener.Addr().String(), cancel: cancel, ended: make(chan struct{}),
		server: &http.Server{
			Handler: handler, BaseContext: func(net.Listener) context.Context { return base },
			ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10,
			ErrorLog: log.New(io.Discard, "", 0), // a fake breaks connections on purpose
		},
	}
	go func() {
		defer close(s.ended)
		if err := s.server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			s.err = err
		}
	}()
	return s, nil
}

// Serve serves a handler at a free port of loopback. It is Listen for tests: stop waits until all is over.
func Serve(handler http.Handler) (url string, stop func(), err error) {
	s, err := Listen(context.Background(), Loopback, handler)
	if err != nil {
		return "", nil, err
	}
	return s.URL, s.Stop, nil
}

// Stop closes the listener, ends the contexts of the requests that are under way, gives them a second, then closes the
// connections that are left. It may be called more than once.
func (s *Server) Stop() {
	s.cancel()
	grace, cancel := context.WithTimeout(context.Background(), stopGrace)
	defer cancel()
	if s.server.Shutdown(grace) != nil {
		_ = s.server.Close() // the connections are torn down; nothing is left that could be told
	}
	<-s.ended
}

// Ended is closed when the server has ended, by Stop or by itself; Err tells which.
func (s *Server) Ended() <-chan struct{} { return s.ended }

// Err tells, after Ended, what ended the server; nil for Stop.
func (s *Server) Err() error {
	<-s.ended
	return s.err
}
