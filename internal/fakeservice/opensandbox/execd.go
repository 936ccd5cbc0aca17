package opensandbox

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
)

// execdTokenHeader carries execd's own token, where it has one.
const execdTokenHeader = "X-EXECD-ACCESS-TOKEN"

// execdJSON answers with what execd's framework calls JSON.
func execdJSON(w http.ResponseWriter, status int, body any) {
	text, err := json.Marshal(body)
	if err != nil { // nothing in it can't be encoded
		panic(err)
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(text) // a client that has gone needs no answer
}

// execdError answers as execd does: {"code", "message"}, both left out when empty.
func execdError(w http.ResponseWriter, status int, code, message string) {
	execdJSON(w, status, struct {
		Code    string `json:"code,omitempty"`
		Message string `json:"message,omitempty"`
	}{code, message})
}

// serveExecd is the daemon in each sandbox. The lifecycle API's key means nothing to it.
func (s *Service) serveExecd(w http.ResponseWriter, r *http.Request, sb *sandbox, in *pod, path string) {
	if token := s.options.ExecdToken; token != "" && r.Header.Get(execdTokenHeader) != token {
		execdJSON(w, http.StatusUnauthorized, map[string]string{"error": "Unauthorized: invalid or missing header " + execdTokenHeader})
		return
	}
	if rest, ok := strings.CutPrefix(path, "/proxy/"); ok {
		s.serveExecdProxy(w, r, sb, rest)
		return
	}
	switch r.Method + " " + path {
	case "GET /ping":
		w.WriteHeader(http.StatusOK)
	case "POST /command":
		s.runCommand(w, r, sb, in)
	case "DELETE /command":
		in.commands.interrupt(w, r)
	case "POST /files/upload":
		s.uploadFiles(w, r, sb)
	case "GET /files/download":
		s.downloadFile(w, r, sb)
	case "GET /files/info":
		s.filesInfo(w, r, sb)
	case "POST /files/permissions":
		s.filePermissions(w, r, sb)
	case "POST /files/mv":
		s.moveFiles(w, r, sb)
	case "DELETE /files":
		s.removeFiles(w, r, sb)
	default:
		s.serveCommandState(w, r, in, path)
	}
}

// serveCommandState is what execd tells about commands by their id; any other path is none of its routes.
func (s *Service) serveCommandState(w http.ResponseWriter, r *http.Request, in *pod, path string) {
	id, isStatus := strings.CutPrefix(path, "/command/status/")
	if r.Method == http.MethodGet && isStatus {
		in.commands.status(w, id)
		return
	}
	id, isLogs := strings.CutSuffix(strings.TrimPrefix(path, "/command/"), "/logs")
	if r.Method == http.MethodGet && isLogs && strings.HasPrefix(path, "/command/") {
		in.commands.logs(w, r, id)
		return
	}
	w.Header().Set("Content-Type", "text/plain")
	w.WriteHeader(http.StatusNotFound)
	_, _ = w.Write([]byte("404 page not found"))
}

// serveExecdProxy reaches a port of the sandbox from within: this is how Docker's endpoints lead to all ports but 8080.
func (s *Service) serveExecdProxy(w http.ResponseWriter, r *http.Request, sb *sandbox, rest string) {
	portText, path, _ := strings.Cut(rest, "/")
	if portText == "" {
		http.Error(w, "port is required", http.StatusBadRequest)
		return
	}
	port, err := strconv.Atoi(portText)
	if err != nil || strings.HasPrefix(path, "proxy/") { // execd's proxy to itself could be asked for without end
		http.Error(w, "Bad Gateway", http.StatusBadGateway)
		return
	}
	target, in, err := s.visit(r, sb.id, "", port)
	if err != nil {
		http.Error(w, "Bad Gateway", http.StatusBadGateway)
		return
	}
	s.serveInside(w, r, target, in, port, "/"+path)
}
