package llm

import (
	"encoding/json"
	"errors"
	"io"
	"strings"
)

// Bounds of one answer. The text is kept, shown and told again, so it is held
// to what the largest models write at once; reasoning is only counted.
const (
	maxTextBytes      = 1 << 20
	maxReasoningBytes = 4 << 20
)

var errTextTooLarge = errors.New("the model provider sent an answer that is too large")

// yieldError marks an error of the consumer, which is passed on as it is.
type yieldError struct{ err error }

func (e yieldError) Error() string { return e.err.Error() }

// reader turns one stream of chunks into events and a Round.
type reader struct {
	req    Request
	yield  func(Event) error
	calls  *callAssembler
	think  thinkFilter
	text   strings.Builder
	hidden int // bytes of reasoning, for the estimate and the bound
	ended  string
	done   bool // [DONE] was seen
	usage  *wireUsage
}

func newReader(req Request, yield func(Event) error) *reader {
	return &reader{req: req, calls: newCallAssembler(req), yield: func(e Event) error {
		if err := yield(e); err != nil {
			return yieldError{err}
		}
		return nil
	}}
}

// read consumes the stream. A nil error means that it ended, not that it was
// complete.
func (r *reader) read(s *sseReader, w *watch) error {
	for !r.done {
		name, data, err := s.next()
		if err != nil {
			if errors.Is(err, errEventTooLarge) {
				return err
			}
			if r.ended != "" || errors.Is(err, io.EOF) {
				return nil // all that mattered is here, or finish will tell
			}
			return ErrCutStream
		}
		before := r.progress()
		if err := r.event(name, data); err != nil {
			return err
		}
		if r.progress() > before {
			w.heard() // what the consumer took is not the provider's silence
		}
		if r.ended != "" {
			w.finished()
		}
	}
	return nil
}

// progress rises with everything that an event brings. Events that bring nothing
// are a provider's way to keep a line open, like comments.
func (r *reader) progress() int {
	return r.text.Len() + r.hidden + r.calls.size + len(r.calls.calls) + len(r.ended)
}

func (r *reader) event(name string, data []byte) error {
	payload := strings.TrimSpace(string(data))
	switch payload {
	case "":
		return nil
	case "[DONE]":
		r.done = true
		return nil
	}
	var c wireChunk
	if err := json.Unmarshal([]byte(payload), &c); err != nil {
		var syntax *json.SyntaxError
		if name == "error" {
			return &ReportedError{Message: payload}
		}
		if errors.As(err, &syntax) {
			return ErrCutStream // half a line, or not the protocol at all
		}
		return &ReportedError{Message: "it sent an event of an unknown shape"}
	}
	if msg := c.errorText(name); msg != "" {
		return &ReportedError{Message: msg}
	}
	if c.Usage != nil {
		if _, ok := c.Usage.usage(0); ok {
			r.usage = c.Usage // the last one counts: gateways repeat a growing sum
		}
	}
	for _, choice := range c.Choices {
		if choice.Index != 0 {
			continue // we ask for one answer
		}
		if err := r.choice(choice); err != nil {
			return err
		}
	}
	return nil
}

func (r *reader) choice(c wireChoice) error {
	d := c.Delta
	if d == nil && r.text.Len() == 0 && len(r.calls.calls) == 0 {
		d = c.Message // a few gateways put the whole answer into one chunk
	}
	if d != nil {
		if err := r.delta(d); err != nil {
			return err
		}
	}
	if c.FinishReason != "" {
		r.ended = finishReason(string(c.FinishReason))
		if r.ended == "error" {
			return &ReportedError{Message: "the answer ended with an error"}
		}
	}
	return nil
}

func (r *reader) delta(d *wireDelta) error {
	if s := string(d.ReasoningContent); s != "" {
		if err := r.reasoning(s); err != nil {
			return err
		}
	} else if s := string(d.Reasoning); s != "" { // some send both, with the same text
		if err := r.reasoning(s); err != nil {
			return err
		}
	}
	answer, hidden := r.think.write(string(d.Content) + string(d.Refusal))
	if err := r.both(answer, hidden); err != nil {
		return err
	}
	for _, w := range d.ToolCalls {
		if err := r.calls.add(w, r.yield); err != nil {
			return err
		}
	}
	return nil
}

func (r *reader) both(answer, hidden string) error {
	if hidden != "" {
		if err := r.reasoning(hidden); err != nil {
			return err
		}
	}
	if answer == "" {
		return nil
	}
	if r.text.Len()+len(answer) > maxTextBytes {
		return errTextTooLarge
	}
	r.text.WriteString(answer)
	return r.yield(TextDelta{Text: answer})
}

func (r *reader) reasoning(s string) error {
	if r.hidden += len(s); r.hidden > maxReasoningBytes {
		return errTextTooLarge
	}
	return r.yield(ReasoningDelta{Text: s})
}

// finish judges what arrived. err is what ended the reading, if anything did.
func (r *reader) finish(err error) (Round, error) {
	var consumer yieldError
	if !errors.As(err, &consumer) {
		if ferr := r.both(r.think.flush()); ferr != nil && err == nil {
			err = ferr
		}
	}
	round := Round{Text: r.text.String(), FinishReason: r.ended, Usage: r.total(), CutCalls: r.calls.cutCalls()}
	if err == nil && r.ended == "" && !r.done {
		err = ErrCutStream
	}
	if err != nil {
		round.Truncated = true
		if errors.As(err, &consumer) {
			err = consumer.err
		}
		return round, err
	}
	calls, wasCut := r.calls.finish()
	round.Truncated = r.wasCut(len(r.calls.calls) > 0) || wasCut
	if round.Truncated {
		if strings.TrimSpace(round.Text) == "" && len(round.CutCalls) == 0 {
			return round, &EmptyError{FinishReason: r.ended}
		}
		return round, nil
	}
	round.CutCalls = nil
	if len(calls) == 0 {
		if strings.TrimSpace(round.Text) == "" {
			return round, &EmptyError{FinishReason: r.ended}
		}
		if round.FinishReason == "" || round.FinishReason == FinishToolCalls {
			round.FinishReason = FinishStop
		}
		return round, nil
	}
	round.ToolCalls, round.FinishReason = calls, FinishToolCalls
	if err := r.announce(calls); err != nil {
		if errors.As(err, &consumer) {
			err = consumer.err
		}
		round.ToolCalls, round.Truncated = nil, true
		return round, err
	}
	return round, nil
}

func (r *reader) announce(calls []ToolCall) error {
	if err := r.calls.startAll(r.yield); err != nil {
		return err
	}
	for _, c := range calls {
		if err := r.yield(ToolCallDone{Call: c}); err != nil {
			return err
		}
	}
	return nil
}

// wasCut tells from the way the round ended whether the model was done. Calls
// need a reason that says so: one we do not know, none at all, or an output
// exactly as long as our own limit counts as cut.
func (r *reader) wasCut(hasCalls bool) bool {
	switch r.ended {
	case FinishLength, FinishContentFilter:
		return true
	case FinishStop, FinishToolCalls:
	default:
		if hasCalls {
			return true
		}
	}
	if r.req.MaxTokens > 0 {
		if u, ok := r.usage.usage(0); ok && u.OutputTokens >= r.req.MaxTokens {
			return true
		}
	}
	return false
}

// total gives the reported usage or our estimate.
func (r *reader) total() Usage {
	out := (r.text.Len() + r.hidden + r.calls.size + 3) / 4
	if u, ok := r.usage.usage(out); ok {
		return u
	}
	in := EstimateRequest(r.req)
	return Usage{InputTokens: in, OutputTokens: out, TotalTokens: in + out, Estimated: true}
}
