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
)

// maxLine bounds one message of a local client, in bytes; the server takes no
// larger one. maxKept bounds what is read of a longer line to find its id.
const (
	maxLine = maxBody
	maxKept = 16 << 20
)

// maxInFlight bounds how many messages wait for their answer; further ones are
// read when there is room.
const maxInFlight = 64

// Bridge carries messages between a local client, which speaks MCP over
// standard input and output, and an installation that speaks it over HTTP. The
// server keeps nothing between requests, so a message is a request, and a
// server that was away is used again as soon as it is back.
type Bridge struct {
	// URL is the installation's address, with or without the path of MCP.
	URL string
	// Key is an application key or an access token.
	Key  string
	HTTP *http.Client

	endpoint string
	mu       sync.Mutex // guards what follows
	out      io.Writer
	broken   error                         // why nothing can be written any more
	version  string                        // as negotiated, for the header of later requests
	waiting  map[string]context.CancelFunc // by request id
}

// Run carries messages until in ends, and answers what came before; or until
// ctx ends or nothing can be written any more. It leaves a read of in behind
// that waits for a line.
func (b *Bridge) Run(ctx context.Context, in io.Reader, out io.Writer) error {
	endpoint, err := endpointOf(b.URL)
	if err != nil {
		return err
	}
	if b.Key == "" {
		return errors.New("an application key is needed: make one under Configuration → Applications")
	}
	b.endpoint, b.out, b.waiting = endpoint, out, map[string]context.CancelFunc{}
	if b.HTTP == nil {
		// A redirected POST would arrive as a GET; and who listens there?
		b.HTTP = &http.Client{Timeout: callLimit, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	lines, ended := make(chan []byte), make(chan error, 1)
	go func() { ended <- readLines(ctx, in, lines) }()
	room := make(chan struct{}, maxInFlight)
	var wg sync.WaitGroup
	defer wg.Wait()
	for {
		select {
		case <-ctx.Done():
			return nil
		case err := <-ended:
			return err
		case line := <-lines:
			if method(line) == "initialize" { // what follows depends on its answer
				b.carry(ctx, line, stop)
				continue
			}
			select {
			case room <- struct{}{}:
			case <-ctx.Done():
				return nil
			}
			wg.Go(func() {
				defer func() { <-room }()
				b.carry(ctx, line, stop)
			})
		}
	}
}

// readLines hands on the lines of in until it ends. Of a line that is longer
// than maxLine at most maxKept bytes are kept.
func readLines(ctx context.Context, in io.Reader, lines chan<- []byte) error {
	r := bufio.NewReaderSize(in, 64<<10)
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		if len(line) <= maxKept {
			line = append(line, part...)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if whole := bytes.TrimSpace(line); len(whole) > 0 {
			select {
			case lines <- bytes.Clone(whole):
			case <-ctx.Done():
				return nil
			}
		}
		line = nil
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("read messages: %w", err)
		}
	}
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

func method(line []byte) string {
	var m envelope
	_ = json.Unmarshal(line, &m)
	return m.Method
}

// carry sends one message and writes what comes back. A request always gets an
// answer: a client waits for it without end. When nothing can be written, it
// calls stop.
func (b *Bridge) carry(ctx context.Context, line []byte, stop func()) {
	var answers [][]byte
	switch {
	case len(line) > maxLine:
		answers = append(answers, errorAnswer(idOf(line), codeInvalidRequest, fmt.Sprintf("The message is larger than %d MiB, which Checkstack does not take", maxLine>>20)))
	case !json.Valid(line):
		answers = append(answers, errorAnswer(nil, codeParse, "A line of the input is not JSON"))
	case method(line) == "notifications/cancelled":
		b.cancel(line)
		return // its request ends with the connection that carries it
	default:
		answers = b.ask(ctx, line)
	}
	for _, msg := range answers {
		if err := b.write(msg); err != nil {
			stop()
			return
		}
	}
}

// ask gives the server's answers to a message, or those that say why there are
// none.
func (b *Bridge) ask(ctx context.Context, line []byte) [][]byte {
	id := idOf(line)
	ctx, done := context.WithCancel(ctx)
	defer done()
	if id != nil {
		b.mu.Lock()
		b.waiting[string(id)] = done
		b.mu.Unlock()
		defer func() {
			b.mu.Lock()
			delete(b.waiting, string(id))
			b.mu.Unlock()
		}()
	}
	answers, err := b.post(ctx, line)
	switch {
	case err == nil:
	case ctx.Err() != nil: // the client cancelled the request or is gone
		return nil
	case id != nil:
		return [][]byte{errorAnswer(id, codeInternal, err.Error())}
	default:
		return batchAnswer(line, err)
	}
	for i, msg := range answers {
		if method(line) == "initialize" {
			b.remember(msg)
		}
		answers[i] = restoreID(msg, id)
	}
	return answers
}

// cancel ends the request that a client does not wait for any more.
func (b *Bridge) cancel(line []byte) {
	var m struct {
		Params struct {
			RequestID json.RawMessage `json:"requestId"`
		} `json:"params"`
	}
	_ = json.Unmarshal(line, &m)
	b.mu.Lock()
	defer b.mu.Unlock()
	if end := b.waiting[string(m.Params.RequestID)]; end != nil {
		end()
	}
}

// batchAnswer answers the requests of a batch with one error; a notification,
// which is no batch, gets no answer.
func batchAnswer(line []byte, err error) [][]byte {
	var batch []json.RawMessage
	_ = json.Unmarshal(line, &batch)
	var list []json.RawMessage
	for _, m := range batch {
		if id := idOf(m); id != nil {
			list = append(list, errorAnswer(id, codeInternal, err.Error()))
		}
	}
	out, merr := json.Marshal(list)
	if len(list) == 0 || merr != nil {
		return nil
	}
	return [][]byte{out}
}

func (b *Bridge) post(ctx context.Context, line []byte) ([][]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, b.endpoint, bytes.NewReader(line))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	req.Header.Set("Authorization", "Bearer "+b.Key)
	b.describe(req.Header, line)
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
	case resp.StatusCode >= 300 && resp.StatusCode < 400:
		if to, err := resp.Location(); err == nil && to.Scheme != "" {
			return nil, fmt.Errorf("%s sends elsewhere: set the address to %s://%s", b.endpoint, to.Scheme, to.Host)
		}
	case resp.StatusCode == http.StatusBadGateway, resp.StatusCode == http.StatusServiceUnavailable, resp.StatusCode == http.StatusGatewayTimeout:
		return nil, fmt.Errorf("Checkstack does not answer behind %s (status %d); try again in a moment", b.endpoint, resp.StatusCode)
	}
	return nil, fmt.Errorf("%s answered with status %d and no message; is it a Checkstack?", b.endpoint, resp.StatusCode)
}

// describe sets the headers that repeat what a message says: the negotiated
// revision, or, since 2026-07-28, the message's own revision, method and name.
func (b *Bridge) describe(h http.Header, line []byte) {
	var m struct {
		Method string `json:"method"`
		Params struct {
			Name string `json:"name"`
			URI  string `json:"uri"`
			Meta struct {
				Version string `json:"io.modelcontextprotocol/protocolVersion"`
			} `json:"_meta"`
		} `json:"params"`
	}
	_ = json.Unmarshal(line, &m) // what cannot be read is not repeated
	b.mu.Lock()
	version := b.version
	b.mu.Unlock()
	if m.Params.Meta.Version != "" {
		version = m.Params.Meta.Version
		setPlain(h, "Mcp-Method", m.Method)
		setPlain(h, "Mcp-Name", m.Params.Name+m.Params.URI) // no message has both
	}
	setPlain(h, "Mcp-Protocol-Version", version)
}

// setPlain sets a header to a value that a header can hold.
func setPlain(h http.Header, name, value string) {
	if value != "" && !strings.ContainsFunc(value, func(r rune) bool { return r < ' ' || r > '~' }) {
		h.Set(name, value)
	}
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

// errorAnswer is a JSON-RPC error; id may be nil.
func errorAnswer(id json.RawMessage, code int, message string) []byte {
	out, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": id, "error": map[string]any{"code": code, "message": message}})
	if err != nil {
		return []byte(`{"jsonrpc":"2.0","id":null,"error":{"code":-32603,"message":"internal error"}}`)
	}
	return out
}

// write puts one message on one line.
func (b *Bridge) write(msg []byte) error {
	var line bytes.Buffer
	if err := json.Compact(&line, msg); err != nil {
		return nil // no message: there is nothing to write
	}
	line.WriteByte('\n')
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.broken == nil {
		_, b.broken = b.out.Write(line.Bytes())
	}
	return b.broken
}
