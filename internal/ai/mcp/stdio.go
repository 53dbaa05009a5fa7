package mcp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
)

// maxLine bounds one message of a local client, in bytes.
const maxLine = maxBody

// Bridge carries messages between a local client, which speaks MCP over
// standard input and output, and an installation that speaks it over HTTP. The
// server keeps nothing between requests, so a message is a request.
type Bridge struct {
	// URL is the installation's address, with or without the path of MCP.
	URL string
	// Key is an application key or an access token.
	Key  string
	HTTP *http.Client

	endpoint string
	mu       sync.Mutex // guards out and version
	out      io.Writer
	version  string // as negotiated, for the header of later requests
}

// Run carries messages until in ends or ctx does.
func (b *Bridge) Run(ctx context.Context, in io.Reader, out io.Writer) error {
	endpoint, err := endpointOf(b.URL)
	if err != nil {
		return err
	}
	if b.Key == "" {
		return errors.New("an application key is needed: make one under Configuration → Applications")
	}
	b.endpoint, b.out = endpoint, out
	if b.HTTP == nil {
		b.HTTP = &http.Client{Timeout: 5 * time.Minute}
	}
	lines := bufio.NewScanner(in)
	lines.Buffer(make([]byte, 64<<10), maxLine)
	var wg sync.WaitGroup
	defer wg.Wait()
	for lines.Scan() {
		line := bytes.Clone(bytes.TrimSpace(lines.Bytes()))
		if len(line) == 0 {
			continue
		}
		if isInitialize(line) { // what follows depends on its answer
			b.carry(ctx, line)
			continue
		}
		wg.Go(func() { b.carry(ctx, line) })
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("read messages: %w", err)
	}
	return nil
}

// endpointOf completes an address to that of MCP.
func endpointOf(text string) (string, error) {
	u, err := url.Parse(text)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
		return "", fmt.Errorf("the address must begin with http:// or https://, such as https://checkstack.example.com")
	}
	if !strings.HasSuffix(u.Path, mcpPath) {
		u.Path = strings.TrimSuffix(u.Path, "/") + mcpPath
	}
	return u.String(), nil
}

type envelope struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
}

func isInitialize(line []byte) bool {
	var m envelope
	return json.Unmarshal(line, &m) == nil && m.Method == "initialize"
}

// carry sends one message and writes what comes back. A request always gets an
// answer: a client waits for it without end.
func (b *Bridge) carry(ctx context.Context, line []byte) {
	if !json.Valid(line) {
		b.write([]byte(`{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"a line of the input is not JSON"}}`))
		return
	}
	var m envelope
	_ = json.Unmarshal(line, &m) // a batch has no id of its own
	body, err := b.post(ctx, line)
	if err != nil {
		if len(m.ID) > 0 {
			b.write(errorAnswer(m.ID, err))
		}
		return
	}
	for _, msg := range body {
		if m.Method == "initialize" {
			b.remember(msg)
		}
		b.write(restoreID(msg, m.ID))
	}
}

func (b *Bridge) post(ctx context.Context, line []byte) ([][]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, b.endpoint, bytes.NewReader(line))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	req.Header.Set("Authorization", "Bearer "+b.Key)
	b.mu.Lock()
	if b.version != "" {
		req.Header.Set("Mcp-Protocol-Version", b.version)
	}
	b.mu.Unlock()
	resp, err := b.HTTP.Do(req)
	if err != nil {
		var ue *url.Error
		if errors.As(err, &ue) {
			err = ue.Err // the address was given by whoever reads this
		}
		return nil, fmt.Errorf("Checkstack at %s cannot be reached: %w", b.endpoint, err)
	}
	defer func() { _ = resp.Body.Close() }()
	raw, err := io.ReadAll(io.LimitReader(resp.Body, 32<<20))
	if err != nil {
		return nil, fmt.Errorf("the answer of Checkstack broke off: %w", err)
	}
	switch mt, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type")); {
	case resp.StatusCode == http.StatusUnauthorized:
		return nil, errors.New("Checkstack does not accept the key; make a new one under Configuration → Applications")
	case mt == "text/event-stream":
		return events(raw), nil
	case mt == "application/json" && json.Valid(raw):
		return [][]byte{bytes.TrimSpace(raw)}, nil
	case resp.StatusCode == http.StatusAccepted, resp.StatusCode == http.StatusNoContent:
		return nil, nil
	case mt == "text/plain" && resp.StatusCode >= 400 && resp.StatusCode < 500 && resp.Header.Get("X-Correlation-Id") != "":
		// The protocol's layer refuses what is no message in plain words.
		return nil, fmt.Errorf("Checkstack refused the message: %s", bytes.TrimSpace(raw[:min(len(raw), 500)]))
	}
	return nil, fmt.Errorf("%s answered with status %d and no message; is it a Checkstack?", b.endpoint, resp.StatusCode)
}

// events gives the data of a stream of server-sent events.
func events(raw []byte) [][]byte {
	var out [][]byte
	for block := range bytes.SplitSeq(bytes.ReplaceAll(raw, []byte("\r\n"), []byte("\n")), []byte("\n\n")) {
		var data [][]byte
		for line := range bytes.SplitSeq(block, []byte("\n")) {
			if d, ok := bytes.CutPrefix(line, []byte("data:")); ok {
				data = append(data, bytes.TrimSpace(d))
			}
		}
		if msg := bytes.Join(data, nil); json.Valid(msg) {
			out = append(out, msg)
		}
	}
	return out
}

func (b *Bridge) remember(msg []byte) {
	var m struct {
		Result struct {
			Version string `json:"protocolVersion"`
		} `json:"result"`
	}
	if json.Unmarshal(msg, &m) == nil && m.Result.Version != "" {
		b.mu.Lock()
		b.version = m.Result.Version
		b.mu.Unlock()
	}
}

// restoreID gives an answer the very id of its request: the server may not have
// known it (an error with id null), and reads numbers as floating point, which
// above 2^53 gives another one.
func restoreID(msg, id []byte) []byte {
	var m map[string]json.RawMessage
	if len(id) == 0 || json.Unmarshal(msg, &m) != nil || m["method"] != nil {
		return msg
	}
	m["id"] = id
	out, err := json.Marshal(m)
	if err != nil {
		return msg
	}
	return out
}

func errorAnswer(id json.RawMessage, err error) []byte {
	out, merr := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": id, "error": map[string]any{"code": -32603, "message": err.Error()}})
	if merr != nil {
		return []byte(`{"jsonrpc":"2.0","id":null,"error":{"code":-32603,"message":"internal error"}}`)
	}
	return out
}

// write puts one message on one line.
func (b *Bridge) write(msg []byte) {
	var line bytes.Buffer
	if err := json.Compact(&line, msg); err != nil {
		return
	}
	line.WriteByte('\n')
	b.mu.Lock()
	defer b.mu.Unlock()
	_, _ = b.out.Write(line.Bytes())
}
