package llm_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/checkstack/checkstack/internal/ai/llm"
)

// BenchmarkStream reads an answer of 1,000 words and two calls.
func BenchmarkStream(b *testing.B) {
	body := strings.Repeat(event(`{"choices":[{"index":0,"delta":{"content":"word "}}]}`), 1000) +
		calls(`{"index":0,"id":"a","function":{"name":"tool_a","arguments":"{}"}}`, `{"index":1,"id":"b","function":{"name":"tool_b","arguments":"{}"}}`)
	c, err := llm.NewOpenAI(llm.OpenAIConfig{HTTP: &http.Client{Transport: roundTrip(func(*http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: io.NopCloser(strings.NewReader(body))}, nil
	})}})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		round, err := c.Stream(b.Context(), request(), func(llm.Event) error { return nil })
		if err != nil || len(round.ToolCalls) != 2 {
			b.Fatal(round, err)
		}
	}
}
