package faults

import (
	"encoding/json"
	"io"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

const maxOrder = 1 << 20 // bytes of an order over HTTP

// control answers the control API and hands on whatever else is below ControlPrefix:
//
//	POST   /_fake/faults    order: a fault as JSON, a list of them, or lines of text as Parse reads them
//	GET    /_fake/faults    what is still to come
//	DELETE /_fake/faults    forget them, let go what hangs
//	POST   /_fake/release   let go what hangs
//	GET    /_fake/requests  the log, newest last; ?limit=n for the last n
//	DELETE /_fake/requests  forget the log and the faults
//
// It asks for no token, so the log shows neither bodies nor the values of headers that may hold a secret.
func (s *Set) control(next http.Handler) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /_fake/faults", s.postFaults)
	mux.HandleFunc("GET /_fake/faults", func(w http.ResponseWriter, _ *http.Request) { writeJSON(w, http.StatusOK, s.Pending()) })
	mux.HandleFunc("DELETE /_fake/faults", func(w http.ResponseWriter, _ *http.Request) {
		s.Clear()
		w.WriteHeader(http.StatusNoContent)
	})
	mux.HandleFunc("POST /_fake/release", func(w http.ResponseWriter, _ *http.Request) {
		s.Release()
		w.WriteHeader(http.StatusNoContent)
	})
	mux.HandleFunc("GET /_fake/requests", s.getRequests)
	mux.HandleFunc("DELETE /_fake/requests", func(w http.ResponseWriter, _ *http.Request) {
		s.Reset()
		w.WriteHeader(http.StatusNoContent)
	})
	mux.Handle(ControlPrefix, next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// A page of another site that the user's browser shows must not order faults here.
		if site := r.Header.Get("Sec-Fetch-Site"); site == "cross-site" || site == "same-site" {
			writeJSON(w, http.StatusForbidden, map[string]string{"error": "not from a page of another site"})
			return
		}
		mux.ServeHTTP(w, r)
	})
}

func (s *Set) postFaults(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxOrder))
	if err != nil {
		writeJSON(w, http.StatusBadRequest, map[string]string{"error": err.Error()})
		return
	}
	ordered, err := decode(body, r.Header.Get("Content-Type"))
	if err != nil {
		writeJSON(w, http.StatusBadRequest, map[string]string{"error": err.Error()})
		return
	}
	s.Order(ordered...)
	writeJSON(w, http.StatusCreated, s.Pending())
}

func decode(body []byte, contentType string) ([]Fault, error) {
	text := strings.TrimSpace(string(body))
	media, _, _ := mime.ParseMediaType(contentType)
	switch {
	case strings.HasPrefix(text, "["):
		var many []Fault
		err := json.Unmarshal(body, &many)
		return many, err
	case strings.HasPrefix(text, "{") || media == "application/json":
		var one Fault
		err := json.Unmarshal(body, &one)
		return []Fault{one}, err
	}
	var ordered []Fault
	for line := range strings.Lines(text) {
		if strings.TrimSpace(line) == "" {
			continue
		}
		f, err := Parse(strings.TrimSpace(line))
		if err != nil {
			return nil, err
		}
		ordered = append(ordered, f)
	}
	return ordered, nil
}

// shown are the headers whose values the log over HTTP tells: none of them holds a secret.
var shown = []string{
	"Accept", "Accept-Encoding", "Content-Length", "Content-Type", "Idempotency-Key", "Prefer", "User-Agent", "X-Request-Id",
}

type entry struct {
	Time      time.Time           `json:"time"`
	Method    string              `json:"method"`
	Path      string              `json:"path"`
	Query     string              `json:"query,omitempty"`
	Header    map[string][]string `json:"header"`
	BodyBytes int                 `json:"body_bytes"`
	Status    int                 `json:"status"`
	Fault     Kind                `json:"fault,omitempty"`
	RequestID string              `json:"request_id"`
	ConnID    string              `json:"connection"`
}

func (s *Set) getRequests(w http.ResponseWriter, r *http.Request) {
	records := s.Requests()
	if limit, err := strconv.Atoi(r.URL.Query().Get("limit")); err == nil && limit >= 0 && limit < len(records) {
		records = records[len(records)-limit:]
	}
	entries := make([]entry, len(records))
	for i, record := range records {
		header := map[string][]string{}
		for name, values := range record.Header {
			if !slices.Contains(shown, name) {
				values = []string{"(hidden)"}
			}
			header[name] = values
		}
		entries[i] = entry{
			Time: record.Time, Method: record.Method, Path: record.Path, Query: record.Query, Header: header,
			BodyBytes: len(record.Body), Status: record.Status, Fault: record.Fault, RequestID: record.RequestID, ConnID: record.ConnID,
		}
	}
	writeJSON(w, http.StatusOK, entries)
}

func writeJSON(w http.ResponseWriter, status int, value any) {
	body, err := json.Marshal(value)
	if err != nil {
		http.Error(w, "the answer can't be made", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(append(body, '\n')) // a client that has gone needs no answer
}
