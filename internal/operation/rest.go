package operation

import (
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/checkstack/checkstack/internal/problem"
)

// Mount serves every operation of the set on mux, at its REST path and method.
// The principal must already be in the request's context.
func (s *Set) Mount(mux *http.ServeMux, log *slog.Logger) {
	for _, op := range s.ops {
		d := op.Declaration()
		mux.Handle(d.Method+" "+d.Path(), restHandler(op, log))
	}
}

func restHandler(op Operation, log *slog.Logger) http.Handler {
	d := op.Declaration()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		out, err := serve(op, r)
		if err == nil {
			var body []byte
			if body, err = json.Marshal(out); err == nil {
				w.Header().Set("Content-Type", "application/json; charset=utf-8")
				w.Header().Set("Cache-Control", "no-store")
				_, _ = w.Write(append(body, '\n'))
				return
			}
		}
		if r.Context().Err() != nil && errors.Is(err, r.Context().Err()) {
			err = problem.Unavailable("The request was cancelled before it finished").Because(err)
		}
		if problem.Write(w, err) {
			log.ErrorContext(r.Context(), "operation failed", "operation", d.ID, "error", err)
		}
	})
}

func serve(op Operation, r *http.Request) (any, error) {
	if r.Method == http.MethodGet {
		value, err := queryValue(op.Input(), r.URL.Query())
		if err != nil {
			return nil, err
		}
		return op.callValue(r.Context(), value)
	}
	if ct := r.Header.Get("Content-Type"); ct != "" && !strings.HasPrefix(ct, "application/json") {
		return nil, problem.Invalid("The body must be JSON; send it with Content-Type: application/json")
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		var tooLarge *http.MaxBytesError
		if errors.As(err, &tooLarge) {
			return nil, problem.TooLarge("The request body is larger than the %d bytes accepted here", tooLarge.Limit)
		}
		return nil, problem.Invalid("The request body could not be read").Because(err)
	}
	if len(body) == 0 && r.Method == http.MethodDelete {
		// Some clients and proxies cannot send a body with DELETE.
		value, err := queryValue(op.Input(), r.URL.Query())
		if err != nil {
			return nil, err
		}
		return op.callValue(r.Context(), value)
	}
	return op.CallJSON(r.Context(), body)
}

// maxQueryDepth bounds the bracket notation of a query parameter.
const maxQueryDepth = 5

// queryValue reads query parameters into the shape of the input: a[b]=1 is an
// object, a[]=1, a[0]=1 and a repeated a=1 are lists, and texts are turned into
// the declared type.
func queryValue(s *Schema, q url.Values) (any, error) {
	root := map[string]any{}
	for key, values := range q {
		parts, ok := splitKey(key)
		if !ok {
			return nil, problem.Field(key, "is not a valid parameter name; nested values are written as name[key]")
		}
		put(root, parts, values)
	}
	return s.coerce(s.root, root), nil
}

func splitKey(key string) ([]string, bool) {
	open := strings.IndexByte(key, '[')
	if open < 0 {
		return []string{key}, key != ""
	}
	parts := []string{key[:open]}
	rest := key[open:]
	for rest != "" {
		end := strings.IndexByte(rest, ']')
		if rest[0] != '[' || end < 0 || strings.Contains(rest[1:end], "[") || len(parts) > maxQueryDepth {
			return nil, false
		}
		parts = append(parts, rest[1:end])
		rest = rest[end+1:]
	}
	return parts, parts[0] != ""
}

// put stores values under parts in a tree of maps whose leaves are []string.
func put(node map[string]any, parts []string, values []string) {
	key := parts[0]
	if len(parts) == 1 || (len(parts) == 2 && parts[1] == "") {
		old, _ := node[key].([]string)
		node[key] = append(old, values...)
		return
	}
	child, ok := node[key].(map[string]any)
	if !ok {
		child = map[string]any{}
		node[key] = child
	}
	put(child, parts[1:], values)
}

// coerce turns query texts into the declared types. What does not fit stays a
// text, so that validation names it.
func (s *Schema) coerce(sc *huma.Schema, value any) any {
	sc = s.resolve(sc)
	if sc == nil {
		sc = &huma.Schema{}
	}
	switch v := value.(type) {
	case map[string]any:
		if sc.Type == huma.TypeArray {
			list := make([]any, 0, len(v))
			for i := 0; i < len(v); i++ {
				item, ok := v[strconv.Itoa(i)]
				if !ok {
					return v
				}
				list = append(list, s.coerce(sc.Items, item))
			}
			return list
		}
		for k, item := range v {
			v[k] = s.coerce(s.property(sc, k), item)
		}
		return v
	case []string:
		if sc.Type == huma.TypeArray {
			list := make([]any, len(v))
			for i, text := range v {
				list[i] = s.coerceText(sc.Items, text)
			}
			return list
		}
		if len(v) != 1 {
			list := make([]any, len(v))
			for i, text := range v {
				list[i] = text
			}
			return list
		}
		return s.coerceText(sc, v[0])
	}
	return value
}

func (s *Schema) coerceText(sc *huma.Schema, text string) any {
	sc = s.resolve(sc)
	if sc == nil {
		return text
	}
	switch sc.Type {
	case huma.TypeBoolean:
		switch text {
		case "true":
			return true
		case "false":
			return false
		}
	case huma.TypeInteger, huma.TypeNumber:
		if f, err := strconv.ParseFloat(text, 64); err == nil && !strings.ContainsAny(text, "xXpP_nN") {
			return f
		}
	}
	return text
}
