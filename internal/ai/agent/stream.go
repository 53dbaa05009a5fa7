package agent

import (
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
// frames are dropped.
type stream struct {
	mu     sync.Mutex
	w      http.ResponseWriter
	rc     *http.ResponseController
	gone   context.CancelFunc
	failed bool
}

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
	s.mu.Lock()
	defer s.mu.Unlock()
	w.WriteHeader(http.StatusOK)
	s.write(": checkstack\n\n")
	return s
}

// write needs the lock.
func (s *stream) write(text string) {
	if s.failed {
		return
	}
	_ = s.rc.SetWriteDeadline(time.Now().Add(writeWait))
	_, err := s.w.Write([]byte(text))
	if err == nil {
		err = s.rc.Flush()
	}
	if err != nil {
		s.failed = true
		s.gone()
	}
}

func (s *stream) send(f frame) {
	raw, err := json.Marshal(f)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil { // only a broken RawMessage, which would be a fault of ours
		s.failed = true
		s.gone()
		return
	}
	s.write("data: " + string(raw) + "\n\n")
}

// end sends the marker after which nothing comes.
func (s *stream) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.write("data: [DONE]\n\n")
}

// keepAlive sends a comment at every interval until ctx ends, so that no proxy
// on the way takes a slow tool for a dead connection.
func (s *stream) keepAlive(ctx context.Context, every time.Duration) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			s.mu.Lock()
			s.write(": keep-alive\n\n")
			s.mu.Unlock()
		}
	}
}
