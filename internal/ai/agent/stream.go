package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"sync"
	"time"
)

// frame is one event of the UI message stream, version 1, in which the
// browser's chat library takes a turn; spec/ai-platform.md 14.2. The library
// ends the stream at a type it does not know, so none is invented.
type frame struct {
	Type       string          `json:"type"`
	MessageID  string          `json:"messageId,omitempty"`
	ID         string          `json:"id,omitempty"`
	Delta      string          `json:"delta,omitempty"`
	ToolCallID string          `json:"toolCallId,omitempty"`
	ToolName   string          `json:"toolName,omitempty"`
	Dynamic    bool            `json:"dynamic,omitempty"`
	Input      json.RawMessage `json:"input,omitempty"`
	Output     json.RawMessage `json:"output,omitempty"`
	ErrorText  string          `json:"errorText,omitempty"`
}

// writeWait is how long one write may take before the browser counts as gone.
const writeWait = time.Minute

// stream writes frames. A write that fails ends the turn through gone; later
// frames are dropped. A nil stream takes everything and writes nothing.
type stream struct {
	mu     sync.Mutex
	w      http.ResponseWriter
	rc     *http.ResponseController
	gone   context.CancelFunc
	failed bool
	// holding keeps frames back until it is known that they may be shown.
	holding bool
	held    bytes.Buffer // what was not written yet
}

// along are frames that say nothing by themselves: they go out with the next.
var along = map[string]bool{"text-start": true, "text-end": true, "finish-step": true, "finish": true, "abort": true}

// newStream sends the headers. From here on every failure is a frame.
func newStream(w http.ResponseWriter, gone context.CancelFunc) *stream {
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-cache, no-transform")
	h.Set("X-Accel-Buffering", "no")
	h.Set("X-Vercel-AI-UI-Message-Stream", "v1")
	s := &stream{w: w, rc: http.NewResponseController(w), gone: gone}
	// The server's timeouts are meant for short answers. A writer that knows no
	// deadlines has none to lift.
	_ = s.rc.SetReadDeadline(time.Time{})
	w.WriteHeader(http.StatusOK)
	return s
}

// write needs the lock.
func (s *stream) write(text []byte) {
	if s.failed {
		return
	}
	_ = s.rc.SetWriteDeadline(time.Now().Add(writeWait))
	_, err := s.w.Write(text)
	if err == nil {
		err = s.rc.Flush()
	}
	if err != nil {
		s.failed = true
		s.gone()
	}
}

// put appends a frame to what is to be written, and writes all of it unless it
// has to wait. It needs the lock.
func (s *stream) put(data []byte, later bool) {
	s.held.WriteString("data: ")
	s.held.Write(data)
	s.held.WriteString("\n\n")
	if !s.holding && !later {
		s.flush()
	}
}

// flush writes what waits. It needs the lock.
func (s *stream) flush() {
	if s.held.Len() > 0 {
		s.write(s.held.Bytes())
		s.held.Reset()
	}
}

func (s *stream) send(f frame) {
	if s == nil {
		return
	}
	raw, err := json.Marshal(f)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil { // only a broken RawMessage, which would be a fault of ours
		s.failed = true
		s.gone()
		return
	}
	s.put(raw, along[f.Type])
}

// delta sends a fragment of text: by far the most frequent frame.
func (s *stream) delta(id, text string) {
	s.send(frame{Type: "text-delta", ID: id, Delta: text})
}

// hold keeps what follows back until release or drop.
func (s *stream) hold() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.flush()
	s.holding = true
}

// release sends what was held, in one write.
func (s *stream) release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.holding = false
	s.flush()
}

// drop throws away what was held.
func (s *stream) drop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.holding {
		s.holding = false
		s.held.Reset()
	}
}

// isHolding says whether nothing may be shown yet.
func (s *stream) isHolding() bool {
	if s == nil {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.holding
}

// end sends the marker after which nothing comes.
func (s *stream) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.put([]byte("[DONE]"), false)
}

// comment tells every proxy on the way that a slow tool is no dead connection.
func (s *stream) comment() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.write([]byte(": keep-alive\n\n"))
}
