package llmtest

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/checkstack/checkstack/internal/ai/llm"
)

// Quirk is a way in which a gateway departs from the protocol.
type Quirk string

// The quirks. Those about calls change how Turn.Calls are written, those about
// the end how the stream ends, those about usage what is reported.
const (
	IndexZero       Quirk = "all calls have index 0"
	NoIndex         Quirk = "no index"
	IndexReversed   Quirk = "the last index comes first"
	EmptyIDs        Quirk = "call ids are empty"
	RepeatedIDs     Quirk = "all calls have the same id"
	ArgsObject      Quirk = "arguments are an object"
	ArgsNull        Quirk = "arguments are null"
	ArgsEmpty       Quirk = "arguments are empty"
	NameRepeated    Quirk = "the name is in every fragment"
	FinishStop      Quirk = "finish reason stop although calls came"
	CutStream       Quirk = "the stream ends without finish and [DONE]"
	HalfLine        Quirk = "the stream ends within a line"
	NoFinish        Quirk = "no finish reason, but [DONE]"
	NoDone          Quirk = "finish reason, but no [DONE]"
	HTML200         Quirk = "an HTML page with status 200"
	JSONError200    Quirk = "a JSON error with status 200"
	ErrorMidStream  Quirk = "an error event after the text"
	Silence         Quirk = "status 200, then nothing"
	SilenceMidText  Quirk = "nothing more after the text"
	DoneAtOnce      Quirk = "[DONE] at once"
	ThinkText       Quirk = "the text begins with a think block"
	ReasoningField  Quirk = "reasoning in the field reasoning_content"
	ReasoningField2 Quirk = "reasoning in the field reasoning"
	CRLFComments    Quirk = "CRLF line ends and comment lines"
	EmptyChoices    Quirk = "the first chunk has no choices"
	NoDelta         Quirk = "a chunk without delta"
	UsageNever      Quirk = "no usage"
	UsageGrowing    Quirk = "usage in every chunk, growing"
	UsageNull       Quirk = "usage is null"
	UsageTotalOnly  Quirk = "only total_tokens"
	UsageText       Quirk = "token counts are text"
	UsageNegative   Quirk = "token counts are negative"
)

// Quirks gives every quirk, for tests that must know all of them.
func Quirks() []Quirk {
	return []Quirk{IndexZero, NoIndex, IndexReversed, EmptyIDs, RepeatedIDs, ArgsObject, ArgsNull, ArgsEmpty, NameRepeated, FinishStop,
		CutStream, HalfLine, NoFinish, NoDone, HTML200, JSONError200, ErrorMidStream, Silence, SilenceMidText, DoneAtOnce, ThinkText,
		ReasoningField, ReasoningField2, CRLFComments, EmptyChoices, NoDelta, UsageNever, UsageGrowing, UsageNull, UsageTotalOnly,
		UsageText, UsageNegative}
}

// SecretThought is the reasoning that the think and reasoning quirks send.
const SecretThought = "hidden thoughts"

// Turn is one answer of the Server. Without quirks it is a textbook stream:
// text in words, calls in two fragments each, finish reason, a usage chunk
// (11 prompt, 7 completion tokens) and [DONE].
type Turn struct {
	Text  string
	Calls []llm.ToolCall
	// Finish overrides the finish reason.
	Finish string
	Quirks []Quirk
	// Status, Header and Body make a plain answer when Status is set.
	Status int
	Header http.Header
	Body   string
	// Raw is sent as it is, as an event stream, in place of all else but
	// Status.
	Raw string
	// Repeat is sent over and over behind the stream, or behind Raw, until the
	// client leaves.
	Repeat string
	// Wait, when set, holds the answer until it is closed or the client leaves.
	Wait <-chan struct{}
}

func (t Turn) has(q Quirk) bool {
	for _, have := range t.Quirks {
		if have == q {
			return true
		}
	}
	return false
}

// Side is a small model call beside a turn's rounds.
type Side string

// The side calls, told apart by how their system prompts begin.
const (
	Guard   Side = "You sort messages to the assistant"
	Title   Side = "You write titles for chats"
	Summary Side = "You keep the running summary"
)

// sideDefaults answers side calls that a test says nothing about.
var sideDefaults = map[Side]Turn{Guard: {Text: "ON_TOPIC"}, Title: {Status: http.StatusTeapot, Body: "no titles here"}, Summary: {Text: "Earlier, things were said."}}

// Recorded is one request the Server got.
type Recorded struct {
	Method, Path  string
	Authorization string
	Body          json.RawMessage
	Side          Side // empty for a round of a turn
}

// sideOf finds out what a request is for.
func sideOf(body []byte) Side {
	var req struct {
		Messages []struct {
			Role    string
			Content json.RawMessage
		}
	}
	if json.Unmarshal(body, &req) != nil || len(req.Messages) == 0 || req.Messages[0].Role != "system" {
		return ""
	}
	var system string
	_ = json.Unmarshal(req.Messages[0].Content, &system)
	for side := range sideDefaults {
		if strings.HasPrefix(system, string(side)) {
			return side
		}
	}
	return ""
}

// Server is a fake OpenAI-compatible endpoint on a loopback port. A request
// without a turn left fails the test and is answered with 500.
type Server struct {
	t        testing.TB
	http     *httptest.Server
	mu       sync.Mutex
	turns    []Turn
	sides    map[Side][]Turn
	requests []Recorded
	models   []string
}

// NewServer starts a Server that ends with the test.
func NewServer(t testing.TB, turns ...Turn) *Server {
	t.Helper()
	s := &Server{t: t, turns: turns, sides: map[Side][]Turn{}, models: []string{"fake-small", "fake-large"}}
	s.http = httptest.NewServer(http.HandlerFunc(s.serve))
	t.Cleanup(func() {
		s.http.CloseClientConnections()
		s.http.Close()
	})
	return s
}

// BaseURL is what a connection is configured with.
func (s *Server) BaseURL() string { return s.http.URL + "/v1" }

// Client is an HTTP client whose idle connections end with the Server.
func (s *Server) Client() *http.Client { return s.http.Client() }

// Push appends turns.
func (s *Server) Push(turns ...Turn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.turns = append(s.turns, turns...)
}

// PushSide appends answers to one kind of side call. The last one is repeated;
// without any, the guard says ON_TOPIC, titles fail and summaries are a line.
func (s *Server) PushSide(side Side, turns ...Turn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sides[side] = append(s.sides[side], turns...)
}

// Requests gives what arrived so far but for side calls.
func (s *Server) Requests() []Recorded { return s.SideRequests("") }

// SideRequests gives the side calls of one kind that arrived so far.
func (s *Server) SideRequests(side Side) []Recorded {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []Recorded
	for _, r := range s.requests {
		if r.Side == side {
			out = append(out, r)
		}
	}
	return out
}

// next takes the answer to a request; nil when there is none left. It needs the
// lock.
func (s *Server) next(side Side) *Turn {
	if side == "" {
		if len(s.turns) == 0 {
			return nil
		}
		turn := s.turns[0]
		s.turns = s.turns[1:]
		return &turn
	}
	turns := s.sides[side]
	if len(turns) == 0 {
		turn := sideDefaults[side]
		return &turn
	}
	if len(turns) > 1 {
		s.sides[side] = turns[1:]
	}
	return &turns[0]
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client went away
	}
	s.mu.Lock()
	side := sideOf(body)
	s.requests = append(s.requests, Recorded{r.Method, r.URL.Path, r.Header.Get("Authorization"), body, side})
	var turn *Turn
	if r.URL.Path == "/v1/chat/completions" {
		turn = s.next(side)
	}
	s.mu.Unlock()
	switch {
	case r.URL.Path == "/v1/models" && r.Method == http.MethodGet:
		var data []map[string]string
		for _, m := range s.models {
			data = append(data, map[string]string{"id": m, "object": "model"})
		}
		w.Header().Set("Content-Type", "application/json")
		w.Write(marshal(map[string]any{"object": "list", "data": data}))
	case r.URL.Path != "/v1/chat/completions":
		http.NotFound(w, r)
	case turn == nil:
		s.t.Errorf("llmtest: request without a turn left: %s %s", r.Method, r.URL.Path)
		http.Error(w, "no turn left", http.StatusInternalServerError)
	default:
		turn.play(w, r)
	}
}

func (t *Turn) play(w http.ResponseWriter, r *http.Request) {
	if t.Wait != nil {
		select {
		case <-t.Wait:
		case <-r.Context().Done():
			return
		}
	}
	for k, v := range t.Header {
		w.Header()[k] = v
	}
	switch {
	case t.Status != 0:
		w.WriteHeader(t.Status)
		io.WriteString(w, t.Body)
		return
	case t.has(HTML200):
		w.Header().Set("Content-Type", "text/html")
		io.WriteString(w, "<!DOCTYPE html><html><head><title>Sign in</title><style>p{}</style></head><body><p>Please log in to the proxy.</p></body></html>")
		return
	case t.has(JSONError200):
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, `{"error":{"message":"rate limit reached","type":"rate_limit"}}`)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	w.WriteHeader(http.StatusOK)
	flush(w)
	if t.has(Silence) {
		<-r.Context().Done()
		return
	}
	raw := t.Raw
	if raw == "" {
		raw = t.stream()
	}
	// In small pieces, so that events arrive cut anywhere; long ones in no more
	// than a few thousand.
	size := max(17, len(raw)/4000)
	for b := []byte(raw); len(b) > 0; {
		n := min(len(b), size)
		if _, err := w.Write(b[:n]); err != nil {
			return
		}
		flush(w)
		b = b[n:]
	}
	for t.Repeat != "" && r.Context().Err() == nil {
		if _, err := io.WriteString(w, t.Repeat); err != nil {
			return
		}
		flush(w)
	}
	if t.has(SilenceMidText) {
		<-r.Context().Done()
	}
}

func flush(w http.ResponseWriter) {
	if f, ok := w.(http.Flusher); ok {
		f.Flush()
	}
}

type obj = map[string]any

// stream writes the turn as an event stream.
func (t *Turn) stream() string {
	if t.has(DoneAtOnce) {
		return "data: [DONE]\n\n"
	}
	var b bytes.Buffer
	nl := "\n"
	if t.has(CRLFComments) {
		nl = "\r\n"
		b.WriteString(": warming up" + nl + nl)
	}
	n := 0
	send := func(chunk obj) {
		n++
		if t.has(UsageGrowing) {
			chunk["usage"] = obj{"prompt_tokens": 11, "completion_tokens": n, "total_tokens": 11 + n}
		}
		b.WriteString("data: " + string(marshal(chunk)) + nl + nl)
		if t.has(CRLFComments) {
			b.WriteString(": still here" + nl)
		}
	}
	delta := func(d obj) { send(obj{"choices": []obj{{"index": 0, "delta": d}}}) }
	if t.has(EmptyChoices) {
		send(obj{"choices": []obj{}, "prompt_filter_results": []obj{}})
	}
	if t.has(NoDelta) {
		send(obj{"choices": []obj{{"index": 0}}})
	}
	delta(obj{"role": "assistant", "content": ""})
	if t.has(ReasoningField) {
		delta(obj{"reasoning_content": SecretThought})
	}
	if t.has(ReasoningField2) {
		delta(obj{"reasoning": SecretThought})
	}
	text := t.Text
	if t.has(ThinkText) {
		text = "<think>" + SecretThought + "</think>\n\n" + text
	}
	for _, piece := range pieces(text, 5) {
		delta(obj{"content": piece})
	}
	if t.has(SilenceMidText) {
		return b.String()
	}
	if t.has(ErrorMidStream) {
		send(obj{"error": obj{"message": "the model is overloaded", "code": 529}})
		return b.String()
	}
	for _, call := range t.callDeltas() {
		delta(obj{"tool_calls": []obj{call}})
	}
	if t.has(CutStream) {
		return b.String()
	}
	if t.has(HalfLine) {
		return b.String() + `data: {"choices":[{"index":0,"delta":{"content":"and th`
	}
	if !t.has(NoFinish) {
		send(obj{"choices": []obj{{"index": 0, "delta": obj{}, "finish_reason": t.finish()}}})
	}
	if u := t.usage(); u != nil {
		b.WriteString("data: " + string(marshal(obj{"choices": []obj{}, "usage": u[0]})) + nl + nl)
	}
	if !t.has(NoDone) {
		b.WriteString("data: [DONE]" + nl + nl)
	}
	return b.String()
}

func (t *Turn) finish() string {
	switch {
	case t.Finish != "":
		return t.Finish
	case len(t.Calls) > 0 && !t.has(FinishStop):
		return "tool_calls"
	}
	return "stop"
}

// usage gives the value of the usage chunk as a list of one; nil for no chunk.
func (t *Turn) usage() []any {
	switch {
	case t.has(UsageNever), t.has(UsageGrowing):
		return nil
	case t.has(UsageNull):
		return []any{nil}
	case t.has(UsageTotalOnly):
		return []any{obj{"total_tokens": 18}}
	case t.has(UsageText):
		return []any{obj{"prompt_tokens": "123", "completion_tokens": "7", "total_tokens": "130"}}
	case t.has(UsageNegative):
		return []any{obj{"prompt_tokens": -5, "completion_tokens": -1, "total_tokens": -6}}
	}
	return []any{obj{"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}}
}

// callDeltas writes each call as fragments: name and beginning, then the rest.
func (t *Turn) callDeltas() []obj {
	var out []obj
	for i, c := range t.Calls {
		at := i
		switch {
		case t.has(IndexZero):
			at = 0
		case t.has(IndexReversed):
			at = len(t.Calls) - 1 - i
		}
		id := c.ID
		if t.has(RepeatedIDs) {
			id = t.Calls[0].ID
		}
		first, rest := obj{"index": at, "id": id, "type": "function"}, obj{"index": at}
		if t.has(EmptyIDs) {
			first["id"] = ""
		}
		if t.has(NoIndex) {
			delete(first, "index")
			delete(rest, "index")
		}
		f, g := obj{"name": c.Name}, obj{}
		if t.has(NameRepeated) {
			g["name"] = c.Name
		}
		switch a := string(c.Arguments); {
		case t.has(ArgsObject):
			f["arguments"] = c.Arguments
		case t.has(ArgsNull):
			f["arguments"] = nil
		case t.has(ArgsEmpty):
			f["arguments"] = ""
		default:
			half := len(a) / 2
			f["arguments"], g["arguments"] = a[:half], a[half:]
		}
		first["function"], rest["function"] = f, g
		out = append(out, first)
		if len(g) > 0 {
			out = append(out, rest)
		}
	}
	return out
}

// pieces cuts a text into runs of n characters.
func pieces(s string, n int) []string {
	var out []string
	r := []rune(s)
	for len(r) > 0 {
		k := min(n, len(r))
		out = append(out, string(r[:k]))
		r = r[k:]
	}
	return out
}

func marshal(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic("llmtest: " + err.Error())
	}
	return b
}

// RetryAfter makes a 429 turn that asks to wait.
func RetryAfter(seconds int) Turn {
	return Turn{Status: http.StatusTooManyRequests, Header: http.Header{"Retry-After": {strconv.Itoa(seconds)}},
		Body: strings.TrimSpace(`{"error":{"message":"too many requests"}}`)}
}
