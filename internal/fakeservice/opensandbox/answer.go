package opensandbox

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"time"
)

// timestamp prints as the server's framework does: UTC with Z, six digits of fraction or none.
type timestamp time.Time

func (t timestamp) MarshalJSON() ([]byte, error) {
	at := time.Time(t).UTC().Truncate(time.Microsecond)
	layout := `"2006-01-02T15:04:05.000000Z"`
	if at.Nanosecond() == 0 {
		layout = `"2006-01-02T15:04:05Z"`
	}
	return []byte(at.Format(layout)), nil
}

// optional is nil for the zero time, which then stays out of an answer.
func optional(t time.Time) *timestamp {
	if t.IsZero() {
		return nil
	}
	return (*timestamp)(&t)
}

// failure is an error answer of the lifecycle API: {"code", "message"}.
type failure struct {
	status        int
	code, message string
	retryAfter    string
}

func (f *failure) Error() string { return f.code + ": " + f.message }

func fail(status int, code, format string, arguments ...any) *failure {
	return &failure{status: status, code: code, message: fmt.Sprintf(format, arguments...)}
}

func (f *failure) write(w http.ResponseWriter) {
	if f.retryAfter != "" {
		w.Header().Set("Retry-After", f.retryAfter)
	}
	writeJSON(w, f.status, map[string]string{"code": f.code, "message": f.message})
}

// writeJSON answers with compact JSON that escapes nothing for HTML, as the real server's does.
func writeJSON(w http.ResponseWriter, status int, body any) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(body); err != nil { // an input with a character that isn't Unicode, say
		http.Error(w, "Internal Server Error", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(bytes.TrimSuffix(text.Bytes(), []byte("\n"))) // a client that has gone needs no answer
}

// writeDetail answers as the framework itself does where no route was found.
func writeDetail(w http.ResponseWriter, status int, detail string) {
	writeJSON(w, status, map[string]string{"detail": detail})
}

func writeText(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(text))
}
