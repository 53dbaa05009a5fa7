package llm

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"io"
	"strings"
)

// Bounds of what one round may ask for.
const (
	maxCalls     = 128
	maxCallBytes = 1 << 20
	// maxNesting is how deep arguments may be nested. Encoders and databases
	// fail somewhere above a thousand levels.
	maxNesting = 100
)

var errTooManyCalls = errors.New("the model asked for more or larger tool calls than one answer may hold")

// NewCallID makes an id for a tool call. Nine letters and digits are the one
// form that every provider takes when the call is replayed.
func NewCallID() string {
	return strings.ToLower(rand.Text()[:9])
}

// wireCall is a tool call or a fragment of one as gateways send it.
type wireCall struct {
	Index    flexIndex `json:"index"`
	ID       flexText  `json:"id"`
	Function struct {
		Name flexText `json:"name"`
		// Arguments is a string, an object, or null.
		Arguments json.RawMessage `json:"arguments"`
	} `json:"function"`
}

// callBuilder is a call under construction.
type callBuilder struct {
	id      string // ours, unique
	wireID  string // the provider's, may be empty or repeated
	index   int    // -1 when the provider gave none
	name    string
	args    strings.Builder
	shape   argShape
	started bool // ToolCallStart was given out
	// repeated says that the name came once more after whole arguments.
	repeated bool
}

func (c *callBuilder) whole() bool { return c.shape.whole(&c.args) }

func (c *callBuilder) equals(text string) bool {
	text = strings.TrimSpace(text)
	return len(text) <= c.args.Len() && text == strings.TrimSpace(c.args.String())
}

// write takes a fragment of the arguments.
func (c *callBuilder) write(text string) {
	if c.args.Len() == 0 || c.shape.closed {
		// Space around the value says nothing.
		if text = strings.TrimLeft(text, " \t\r\n"); text == "" {
			return
		}
	}
	c.shape.read(text)
	c.args.WriteString(text)
}

func (c *callBuilder) reset() {
	c.args.Reset()
	c.shape = argShape{}
}

// argShape follows arguments while they grow, so that asking for each of many
// fragments whether they are whole does not read all of them each time.
type argShape struct {
	first   byte
	depth   int
	text    bool // within a string
	escape  bool // behind a backslash in it
	closed  bool // the first value has ended
	judged  bool
	valid   bool
	garbage bool // something follows the value
}

func (a *argShape) read(s string) {
	for i := range len(s) {
		b := s[i]
		switch {
		case a.closed:
			a.garbage = a.garbage || (b != ' ' && b != '\t' && b != '\r' && b != '\n')
			continue
		case a.first == 0:
			a.first = b
		}
		switch {
		case a.escape:
			a.escape = false
			continue
		case a.text && b == '\\':
			a.escape = true
			continue
		case b == '"':
			a.text = !a.text
		case a.text:
			continue
		case b == '{' || b == '[':
			a.depth++
		case b == '}' || b == ']':
			a.depth--
		}
		a.closed = a.depth <= 0 && !a.text && (a.first == '{' || a.first == '[' || a.first == '"')
	}
}

// whole says whether args are one JSON value.
func (a *argShape) whole(args *strings.Builder) bool {
	switch a.first {
	case '{', '[', '"':
		if !a.closed || a.garbage {
			return false
		}
		if !a.judged {
			a.judged, a.valid = true, json.Valid([]byte(args.String()))
		}
		return a.valid
	}
	return args.Len() > 0 && args.Len() < 64 && json.Valid([]byte(args.String()))
}

func (c *callBuilder) start(yield func(Event) error) error {
	c.started = true
	return yield(ToolCallStart{ID: c.id, Name: c.name})
}

// rename takes a name or, from the few gateways that split names, a part.
func (c *callBuilder) rename(name string, offered map[string]bool) {
	switch {
	case name == "" || name == c.name || offered[c.name]:
	case c.name == "" || offered[name]:
		c.name = name
	case c.args.Len() == 0:
		c.name += name
	}
}

// callAssembler puts fragments of parallel calls together. Gateways number
// them all zero, or not at all, leave ids out, or repeat id and name in each
// fragment; which call a fragment belongs to is decided in match.
type callAssembler struct {
	offered map[string]bool
	taken   map[string]bool
	calls   []*callBuilder
	size    int
}

func newCallAssembler(req Request) *callAssembler {
	a := &callAssembler{offered: map[string]bool{}, taken: map[string]bool{}}
	for _, t := range req.Tools {
		a.offered[t.Name] = true
	}
	for _, m := range req.Messages {
		for _, c := range m.ToolCalls {
			a.taken[c.ID] = true
		}
	}
	return a
}

// add takes one fragment and gives the events that follow from it.
func (a *callAssembler) add(w wireCall, yield func(Event) error) error {
	id, name := strings.TrimSpace(string(w.ID)), strings.TrimSpace(string(w.Function.Name))
	text := argumentText(w.Function.Arguments)
	if c := a.last(func(*callBuilder) bool { return true }); c != nil && c.shape.closed && strings.TrimSpace(text) == "" {
		text = "" // space behind a value begins nothing
	}
	if a.size += len(text) + len(name); a.size > maxCallBytes {
		return errTooManyCalls
	}
	c := a.match(w.Index.n, id, name, text)
	if c == nil {
		if id == "" && name == "" && strings.TrimSpace(text) == "" {
			return nil
		}
		if len(a.calls) == maxCalls {
			return errTooManyCalls
		}
		if name == "" {
			name = a.again(text)
		}
		c = a.open(w.Index.n, id)
	}
	c.rename(name, a.offered)
	c.repeated = name != "" && c.whole() && text == ""
	// A name may come in parts, so a call starts for the outside once its
	// name is known to be whole.
	if !c.started && (a.offered[c.name] || (c.name != "" && text != "")) {
		if err := c.start(yield); err != nil {
			return err
		}
	}
	if text == "" || (c.equals(text) && c.whole()) {
		return nil // nothing, or the finished arguments once more
	}
	if c.equals("{}") && strings.HasPrefix(strings.TrimSpace(text), "{") {
		c.reset() // an empty placeholder before the real arguments
	}
	c.write(text)
	return yield(ToolCallDelta{ID: c.id, Text: text})
}

// match finds the call a fragment continues; nil means a new one.
func (a *callAssembler) match(index *int, id, name, text string) *callBuilder {
	at := func(b *callBuilder) bool { return index == nil || b.index < 0 || b.index == *index }
	if id != "" {
		// A new id is a new call, whatever the index says.
		c := a.last(func(b *callBuilder) bool { return b.wireID == id && at(b) })
		if c == nil && name == "" { // the id came later than the name
			if c = a.last(at); c != nil && c.wireID == "" && !c.whole() {
				c.wireID = id
				return c
			}
			return nil
		}
		if c != nil && name != "" && text != "" && c.whole() && !c.equals(text) {
			return nil // one id for two calls
		}
		return c
	}
	c := a.last(func(b *callBuilder) bool { return index == nil || b.index == *index })
	switch {
	case c == nil:
		return nil
	case name == "":
		if c.repeated && text != "" {
			return nil // its name came again before these arguments
		}
		return c
	case c.whole() && (text != "" || name != c.name):
		return nil
	case name != c.name && a.offered[c.name]:
		return nil
	}
	return c // the name once more
}

// again gives the name of the call whose name was announced a second time.
func (a *callAssembler) again(text string) string {
	c := a.last(func(*callBuilder) bool { return true })
	if c == nil || !c.repeated || text == "" {
		return ""
	}
	c.repeated = false
	return c.name
}

func (a *callAssembler) last(is func(*callBuilder) bool) *callBuilder {
	for i := len(a.calls) - 1; i >= 0; i-- {
		if is(a.calls[i]) {
			return a.calls[i]
		}
	}
	return nil
}

func (a *callAssembler) open(index *int, wireID string) *callBuilder {
	c := &callBuilder{id: wireID, wireID: wireID, index: -1}
	if index != nil {
		c.index = *index
	}
	for c.id == "" || a.taken[c.id] {
		c.id = NewCallID()
	}
	a.taken[c.id] = true
	a.calls = append(a.calls, c)
	return c
}

// startAll starts the calls whose names were never known to be whole.
func (a *callAssembler) startAll(yield func(Event) error) error {
	for _, c := range a.calls {
		if !c.started {
			if err := c.start(yield); err != nil {
				return err
			}
		}
	}
	return nil
}

// argumentText gives a fragment's arguments as text, whether they came as a
// string or as a JSON value.
func argumentText(raw json.RawMessage) string {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || string(raw) == "null" {
		return ""
	}
	var text string
	if raw[0] == '"' && json.Unmarshal(raw, &text) == nil {
		return text
	}
	return string(raw)
}

// finish gives the calls, or reports that one of them was cut off.
func (a *callAssembler) finish() (calls []ToolCall, wasCut bool) {
	for _, c := range a.calls {
		args, ok := finishArguments(c.args.String())
		if !ok || c.name == "" {
			return nil, true
		}
		calls = append(calls, ToolCall{ID: c.id, Name: c.name, Arguments: args})
	}
	return calls, false
}

// cutCalls names the calls without their arguments.
func (a *callAssembler) cutCalls() []CutCall {
	var out []CutCall
	for _, c := range a.calls {
		out = append(out, CutCall{ID: c.id, Name: c.name})
	}
	return out
}

// finishArguments makes arguments valid JSON; false means that they end in the
// middle of a value.
func finishArguments(text string) (json.RawMessage, bool) {
	text = strings.TrimSpace(text)
	if text == "" || text == "null" {
		return json.RawMessage("{}"), true
	}
	dec := json.NewDecoder(strings.NewReader(text))
	var v json.RawMessage
	if err := dec.Decode(&v); err != nil {
		if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
			return nil, false
		}
		return quoteJSON(text), true
	}
	if !json.Valid([]byte(text)) {
		return quoteJSON(text), true // something follows the value
	}
	if deeper(text, maxNesting) {
		return quoteJSON("arguments that are nested too deep"), true
	}
	if v[0] == '"' { // some gateways encode the object twice
		var inner string
		if json.Unmarshal(v, &inner) == nil {
			inner = strings.TrimSpace(inner)
			if strings.HasPrefix(inner, "{") && json.Valid([]byte(inner)) && !deeper(inner, maxNesting) {
				return json.RawMessage(inner), true
			}
		}
	}
	return v, true
}

// deeper says whether valid JSON is nested in more than n levels.
func deeper(text string, n int) bool {
	var a argShape
	for i := range len(text) {
		if a.read(text[i : i+1]); a.depth > n {
			return true
		}
	}
	return false
}

func quoteJSON(text string) json.RawMessage {
	b, err := json.Marshal(text)
	if err != nil { // a string always marshals
		return json.RawMessage(`""`)
	}
	return b
}
