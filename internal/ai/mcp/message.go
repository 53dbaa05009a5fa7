package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/checkstack/checkstack/internal/oauth"
)

// JSON-RPC 2.0, section 5.1, and the code that MCP gives an unknown revision.
const (
	codeParse          = -32700
	codeInvalidRequest = -32600
	codeNoMethod       = -32601
	codeInternal       = -32603
	codeVersion        = -32022
)

// callLimit bounds how long a call may take with its answer; the gate ends the
// tool itself earlier.
const callLimit = 5 * time.Minute

// speak takes one message of a caller who was let in to the protocol's layer.
// That layer answers what is no message in plain text, which clients do not
// show; here it becomes an answer of the protocol.
func (s *Server) speak(w http.ResponseWriter, r *http.Request, next http.Handler) {
	if r.Method != http.MethodPost { // there is no stream to open and no session to end
		w.Header().Set("Allow", "POST, OPTIONS")
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	raw, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		var big *http.MaxBytesError
		if errors.As(err, &big) {
			fail(w, http.StatusRequestEntityTooLarge, codeInvalidRequest, "The message is larger than "+strconv.Itoa(maxBody>>20)+" MiB")
			return
		}
		fail(w, http.StatusRequestTimeout, codeInvalidRequest, "The message did not arrive completely and in time")
		return
	}
	// The server's deadlines are made for ordinary requests. The one for reading
	// has done its work; left alone it would end a call that takes longer.
	rc := http.NewResponseController(w)
	_ = rc.SetReadDeadline(time.Time{})
	_ = rc.SetWriteDeadline(time.Now().Add(callLimit))
	if !json.Valid(raw) { // the protocol's layer reads what begins well and forgets the rest
		fail(w, http.StatusBadRequest, codeParse, "The body is not JSON")
		return
	}
	if !s.versionKnown(w, r, raw) {
		return
	}
	if bytes.HasPrefix(bytes.TrimSpace(raw), []byte("[")) {
		s.batch(w, r, raw, next)
		return
	}
	s.one(w, r, raw, next)
}

// versionKnown refuses a message of a revision that this server does not speak,
// with those it does: a client can choose one of them.
func (s *Server) versionKnown(w http.ResponseWriter, r *http.Request, raw []byte) bool {
	given := r.Header.Values("Mcp-Protocol-Version")
	if len(given) == 0 || (len(given) == 1 && slices.Contains(versions, given[0])) {
		return true
	}
	data := sdk.UnsupportedProtocolVersionData{Supported: versions, Requested: given[0][:min(len(given[0]), 40)]}
	replyError(w, http.StatusBadRequest, idOf(raw), codeVersion, "This server does not speak the revision in the header MCP-Protocol-Version, or the header is there twice", data)
	return false
}

// one takes a single message to the protocol's layer.
func (s *Server) one(w http.ResponseWriter, r *http.Request, raw []byte, next http.Handler) {
	if listens(raw) {
		replyError(w, http.StatusNotFound, idOf(raw), codeNoMethod, "This server announces no changes, so there is nothing to listen to", nil)
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(raw))
	a := &answer{ResponseWriter: w, call: callOf(r.Context()), oauth: s.oauth}
	next.ServeHTTP(a, r)
	if a.refused != 0 {
		s.refuse(w, r, raw, a.refused, strings.TrimSpace(string(a.why)))
	}
}

// maxBatch bounds how many messages may come in one request.
const maxBatch = 100

// batch answers several messages of revision 2025-03-26, the one that has them
// and that a request without a version speaks. Each is answered by itself, as
// JSON-RPC 2.0 section 6 wants it.
func (s *Server) batch(w http.ResponseWriter, r *http.Request, raw []byte, next http.Handler) {
	var messages []json.RawMessage
	version := r.Header.Get("Mcp-Protocol-Version")
	_ = json.Unmarshal(raw, &messages) // it is a list
	switch {
	case version >= "2025-06-18":
		fail(w, http.StatusBadRequest, codeInvalidRequest, "Revision "+version+" has no batches: send one message at a time")
		return
	case len(messages) == 0 || len(messages) > maxBatch:
		fail(w, http.StatusBadRequest, codeInvalidRequest, "A batch has 1 to "+strconv.Itoa(maxBatch)+" messages")
		return
	}
	answers := []json.RawMessage{}
	for _, m := range messages {
		part := &part{header: http.Header{}}
		ctx := context.WithValue(r.Context(), callKey{}, &call{proposals: callOf(r.Context()).proposals})
		s.one(part, r.WithContext(ctx), m, next)
		if body := bytes.TrimSpace(part.body.Bytes()); len(body) > 0 {
			answers = append(answers, body)
		}
	}
	if len(answers) == 0 {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	_ = json.NewEncoder(w).Encode(answers)
}

// part collects the answer to one message of a batch. Its status says nothing
// about the others.
type part struct {
	header http.Header
	body   bytes.Buffer
}

func (p *part) Header() http.Header         { return p.header }
func (p *part) WriteHeader(int)             {}
func (p *part) Write(b []byte) (int, error) { return p.body.Write(b) }

// listens says whether a message asks for a stream of changes. The protocol's
// layer would keep it open without end, though nothing here ever changes.
func listens(raw []byte) bool {
	if !bytes.Contains(raw, []byte("listen")) && !bytes.Contains(raw, []byte(`\u`)) { // spares nearly all a second reading
		return false
	}
	var m map[string]json.RawMessage // names count as they are spelled
	var method string
	return json.Unmarshal(raw, &m) == nil && json.Unmarshal(m["method"], &method) == nil && method == "subscriptions/listen"
}

// idOf gives the id of a request, nil when it has none that can be given back.
func idOf(raw []byte) json.RawMessage {
	var m struct {
		ID json.RawMessage `json:"id"`
	}
	if json.Unmarshal(raw, &m) != nil || len(m.ID) == 0 || !strings.ContainsRune(`"-0123456789`, rune(m.ID[0])) {
		return nil
	}
	return m.ID
}

// versions are the revisions of MCP that this server speaks, newest first.
var versions = sdk.SupportedProtocolVersions()

const noMessage = `The body is no message of JSON-RPC 2.0: it needs "jsonrpc": "2.0", a method and, for a request, an id`

// refuse answers a message that the protocol's layer did not take, or took
// without an answer; it gave a status and a reason in its own words.
func (s *Server) refuse(w http.ResponseWriter, r *http.Request, raw []byte, status int, why string) {
	var one map[string]json.RawMessage
	isMessage := json.Unmarshal(raw, &one) == nil
	switch {
	case status == http.StatusAccepted && (len(one["id"]) == 0 || len(one["method"])+len(one["result"])+len(one["error"]) > 0):
		w.WriteHeader(status)
	case status == http.StatusAccepted: // neither a request nor an answer: its sender would wait
		replyError(w, http.StatusBadRequest, idOf(raw), codeInvalidRequest, noMessage, nil)
	case status >= 500:
		s.log.ErrorContext(r.Context(), "MCP request failed", "error", why)
		replyError(w, status, idOf(raw), codeInternal, "Something went wrong; the server's log says what", nil)
	case status != http.StatusBadRequest || strings.HasPrefix(why, "Accept ") || r.Header.Get("Last-Event-Id") != "":
		replyError(w, status, idOf(raw), codeInvalidRequest, why, nil)
	case isMessage && strings.HasSuffix(why, " unsupported") && len(one["method"]) > 0:
		if id := idOf(raw); id != nil {
			replyError(w, http.StatusOK, id, codeNoMethod, "This server has no such method", nil)
			return
		}
		w.WriteHeader(http.StatusAccepted) // a notification gets no answer, known or not
	case isMessage && strings.HasPrefix(why, "invalid request: ") && len(one["method"]) > 0:
		replyError(w, status, idOf(raw), codeInvalidRequest, why, nil)
	default:
		replyError(w, status, idOf(raw), codeInvalidRequest, noMessage, nil)
	}
}

// fail answers with a JSON-RPC error that belongs to no request.
func fail(w http.ResponseWriter, status, code int, message string) {
	replyError(w, status, nil, code, message, nil)
}

// replyError answers a request with a JSON-RPC error; data may be nil.
func replyError(w http.ResponseWriter, status int, id json.RawMessage, code int, message string, data any) {
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	e := map[string]any{"code": code, "message": message}
	if data != nil {
		e["data"] = data
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"jsonrpc": "2.0", "id": id, "error": e})
}

// answer gives the response the status that the tool call asked for. The SDK
// answers every call with 200; the transport wants 403 and 429 to be seen by
// clients and proxies that do not read the body. What the SDK refuses in plain
// text, or takes without an answer, is kept back for refuse.
type answer struct {
	http.ResponseWriter
	call    *call
	oauth   *oauth.Server
	wrote   bool
	refused int // the status that was kept back
	why     []byte
}

func (a *answer) WriteHeader(status int) {
	if a.wrote {
		return
	}
	a.wrote = true
	if status == http.StatusAccepted || (status >= 400 && strings.HasPrefix(a.Header().Get("Content-Type"), "text/plain")) {
		a.refused = status
		return
	}
	if status == http.StatusOK && a.call.status != 0 {
		status = a.call.status
		switch status {
		case http.StatusTooManyRequests:
			a.Header().Set("Retry-After", strconv.Itoa(max(1, int((a.call.wait+time.Second-1)/time.Second))))
		case http.StatusForbidden:
			if a.call.scope != "" {
				a.Header().Set("WWW-Authenticate", a.oauth.Challenge("insufficient_scope", "The token does not cover this tool", a.call.scope))
			}
		}
	}
	a.ResponseWriter.WriteHeader(status)
}

func (a *answer) Write(b []byte) (int, error) {
	if !a.wrote {
		a.WriteHeader(http.StatusOK)
	}
	if a.refused != 0 {
		a.why = append(a.why, b...)
		return len(b), nil
	}
	return a.ResponseWriter.Write(b)
}

// Unwrap lets http.ResponseController reach the connection.
func (a *answer) Unwrap() http.ResponseWriter { return a.ResponseWriter }
