package fakeservice_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/agentenv/terraform-provider-gpuvm/internal/fakeservice"
)

func get(t *testing.T, url string) (*http.Response, error) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	return http.DefaultClient.Do(r)
}

func TestServe(t *testing.T) {
	t.Parallel()
	url, stop, err := fakeservice.Serve(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "hello")
	}))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := get(t, url)
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(resp.Body)
	if err != nil || resp.Body.Close() != nil || string(body) != "hello" {
		t.Errorf("%q %v", body, err)
	}
	stop()
	stop() // twice is once
	if _, err := get(t, url); err == nil {
		t.Error("it should no longer answer")
	}
}

// TestStopEndsRequests sees that a request which would wait for ever doesn't hold up the stop.
func TestStopEndsRequests(t *testing.T) {
	t.Parallel()
	inside, ended := make(chan struct{}), make(chan struct{})
	server, err := fakeservice.Listen(t.Context(), "", http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		close(inside)
		<-r.Context().Done()
		close(ended)
	}))
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		if resp, err := get(t, server.URL); err == nil {
			_ = resp.Body.Close() // the handler answers nothing: an empty 200
		}
	}()
	<-inside
	server.Stop()
	<-ended
	<-server.Ended()
	if err := server.Err(); err != nil {
		t.Errorf("ended by %v", err)
	}
}

func TestListenFails(t *testing.T) {
	t.Parallel()
	taken, err := new(net.ListenConfig).Listen(t.Context(), "tcp", fakeservice.Loopback)
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	address := taken.Addr().String()
	if _, err := fakeservice.Listen(context.Background(), address, http.NotFoundHandler()); err == nil || !strings.Contains(err.Error(), address) {
		t.Errorf("an address that is taken: %v", err)
	}
}
