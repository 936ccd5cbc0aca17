package apiclient

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
)

// raw answers each connection with a text and closes it, which it says where the text is HTTP.
func raw(t *testing.T, answer string) *Client {
	t.Helper()
	answer = strings.Replace(answer, "\r\n", "\r\nConnection: close\r\n", 1)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			if r, err := http.ReadRequest(bufio.NewReader(conn)); err == nil {
				_, _ = io.Copy(io.Discard, r.Body) // what isn't read would make the close a reset
			}
			_, _ = io.WriteString(conn, answer)
			_ = conn.Close()
		}
	}()
	return must(t, testConfig("http://"+listener.Addr().String()))
}

func TestUnusableAnswers(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answer   string
		status   int
		want     string
		garbled  bool
		attempts int // of a GET
	}{
		"cut":            {"HTTP/1.1 201 Created\r\nContent-Length: 20\r\n\r\n{\"id\":", 201, "HTTP 201 Created: the answer was cut short: unexpected EOF", false, 5},
		"cut in a chunk": {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nff\r\n{\"id\"", 200, "cut short", false, 5},
		"cut header":     {"HTTP/1.1 201 Crea", 0, "no answer: ", false, 5},
		"nothing":        {"", 0, "no answer: EOF", false, 5},
		"not HTTP":       {"SSH-2.0-OpenSSH_9.6\r\n", 0, "malformed HTTP", false, 5},
		"half of a JSON": {"HTTP/1.1 201 Created\r\n\r\n{\"id\":", 201, "is not the JSON that was asked for (6 bytes of type \"\")", true, 5},
		"a page":         {"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 6\r\n\r\n<html>", 200, "(6 bytes of type \"text/html\"): invalid character '<'", true, 5},
		"no body":        {"HTTP/1.1 204 No Content\r\n\r\n", 204, "(0 bytes of", true, 5},
		"another shape":  {"HTTP/1.1 201 Created\r\nContent-Length: 8\r\n\r\n{\"id\":1}", 201, "its ID is a number", true, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out struct{ ID string }
			for method, attempts := range map[string]int{"GET": c.attempts, "POST": 1} {
				answer, err := raw(t, c.answer).Do(t.Context(), Request{Method: method, Path: []string{"v1"}, JSON: 1}, &out)
				e := asError(t, err)
				if e.Status != c.status || errors.Is(err, ErrGarbled) != c.garbled || !strings.Contains(err.Error(), c.want) || e.Attempts != attempts || !e.Open() {
					t.Errorf("%s: %+v: %v", method, e, err)
				}
				if (answer != nil) != (c.status != 0) || answer != nil && answer.Status != c.status {
					t.Errorf("answer %+v", answer)
				}
			}
		})
	}
}

func TestCutErrorIsStillItsStatus(t *testing.T) {
	t.Parallel()
	e := failing(t, raw(t, "HTTP/1.1 404 Not Found\r\nContent-Length: 200\r\n\r\n{\"error\":\"no such"), get("v1"))
	if !IsGone(e) || e.Attempts != 1 || e.Err != nil || !strings.Contains(e.Error(), "not valid JSON") {
		t.Errorf("got %v", e)
	}
}

// endless writes until the client has gone.
func endless(w http.ResponseWriter, chunk []byte) {
	for {
		if _, err := w.Write(chunk); err != nil {
			return
		}
	}
}

func TestAnswersAreBounded(t *testing.T) {
	t.Parallel()
	protocols(t, func(t *testing.T, http2 bool) {
		for _, status := range []int{200, 404} {
			s := serve(t, http2, func(w http.ResponseWriter, _ *http.Request, _ int) {
				w.WriteHeader(status)
				endless(w, bytes.Repeat([]byte("x"), 64<<10))
			})
			r := get("endless")
			r.MaxAnswer = 1 << 20
			answer, err := clientOf(t, s).Do(t.Context(), r, nil)
			e := asError(t, err)
			if e.Attempts != 1 || IsTransient(e) || len(answer.Body) > 1<<20 || len(err.Error()) > 700 {
				t.Errorf("%d: %d bytes, %v", status, len(answer.Body), err)
			}
			if status == 200 && !strings.Contains(err.Error(), "longer than 1048576 bytes") {
				t.Error(err)
			}
		}
	})
}

func TestAnswerAsLongAsAllowed(t *testing.T) {
	t.Parallel()
	s := serve(t, false, func(w http.ResponseWriter, _ *http.Request, _ int) { _, _ = io.WriteString(w, "12345") })
	for limit, fits := range map[int64]bool{4: false, 5: true, 0: true, 1<<63 - 1: true} {
		r := get("x")
		r.MaxAnswer = limit
		answer, err := clientOf(t, s).Do(t.Context(), r, nil)
		if (err == nil) != fits || fits && string(answer.Body) != "12345" {
			t.Errorf("limit %d: %s, %v", limit, answer.Body, err)
		}
	}
}

// A service that compresses unasked gets no megabyte out of a kilobyte.
func TestGzipBombStaysSmall(t *testing.T) {
	t.Parallel()
	var bomb bytes.Buffer
	z := gzip.NewWriter(&bomb)
	_, _ = z.Write(make([]byte, 64<<20))
	_ = z.Close()
	for _, status := range []int{200, 500} {
		s := serve(t, false, func(w http.ResponseWriter, r *http.Request, _ int) {
			if r.Header.Get("Accept-Encoding") != "" {
				t.Error("compression was asked for")
			}
			w.Header().Set("Content-Encoding", "gzip")
			w.WriteHeader(status)
			_, _ = w.Write(bomb.Bytes())
		})
		var out any
		answer, err := clientOf(t, s).Do(t.Context(), Request{Method: "POST", Path: []string{"x"}}, &out)
		if e := asError(t, err); !e.Open() || len(answer.Body) > bomb.Len() || len(err.Error()) > 700 {
			t.Errorf("%d: %d bytes, %v", status, len(answer.Body), err)
		}
	}
}
