package strategy

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
)

// SecretField is a place in a draft that holds a secret.
type SecretField struct {
	// Key is the stable name of the value within the check: "<secretID>" for
	// the strategy's config, "<collector instance id>/<secretID>" for a
	// collector's. It survives renamed fields and reordered collectors.
	Key string
	// Path is where it is in this draft, such as "config.password".
	Path string
	// Present is true when the draft has the field as a text, even an empty one.
	Present bool
	// Value is the text: a typed-in secret, a reference, or whatever marker the
	// caller has put there. Empty when not present.
	Value string
}

// IsReference says whether the value names a secret, ${{ secrets.NAME }},
// instead of holding one.
func (f SecretField) IsReference() bool { return secretReference.MatchString(f.Value) }

// SecretFields lists every secret field that the kinds of the draft declare,
// filled or not. Give it a normalised draft: a collector without an id has no
// stable key and is left out.
func (r *Registry) SecretFields(d Draft) []SecretField {
	var out []SecretField
	r.eachConfig(&d, func(prefix, path string, c Config, raw *json.RawMessage) {
		tree, err := parseObject(*raw)
		if err != nil {
			return
		}
		c.Schema.walkSecrets(tree, path, func(s *Schema, path string, parent map[string]any, name string) {
			f := SecretField{Key: prefix + s.SecretID, Path: path}
			f.Value, f.Present = parent[name].(string)
			out = append(out, f)
		})
	})
	return out
}

// WithSecrets gives the draft with the secret fields set by key: nil removes
// the field, an absent key leaves it as it is. Everything else is unchanged,
// and so is a value that is no text, which Validate reports.
func (r *Registry) WithSecrets(d Draft, values map[string]*string) Draft {
	return r.setSecrets(d, values, false)
}

func (r *Registry) setSecrets(d Draft, values map[string]*string, anyType bool) Draft {
	d.Collectors = slices.Clone(d.Collectors)
	r.eachConfig(&d, func(prefix, _ string, c Config, raw *json.RawMessage) {
		tree, err := parseObject(*raw)
		if err != nil {
			return
		}
		changed := false
		c.Schema.walkSecrets(tree, "", func(s *Schema, _ string, parent map[string]any, name string) {
			value, ok := values[prefix+s.SecretID]
			_, isText := parent[name].(string)
			switch {
			case !ok, !anyType && !isText && parent[name] != nil:
				return
			case value == nil:
				delete(parent, name)
			default:
				parent[name] = *value
			}
			changed = true
		})
		if !changed {
			return
		}
		if out, err := json.Marshal(tree); err == nil {
			*raw = out
		}
	})
	return d
}

// Redact gives the draft as it may be shown, and the paths of the secret fields
// that hold a value. References stay, values and markers go. A config whose
// kind is unknown reads as {}: nobody can tell where its secrets are.
func (r *Registry) Redact(d Draft) (Draft, []string) {
	configured := []string{}
	remove := map[string]*string{}
	for _, f := range r.SecretFields(d) {
		if f.Value != "" {
			configured = append(configured, f.Path)
		}
		if !f.IsReference() {
			remove[f.Key] = nil
		}
	}
	out := r.setSecrets(d, remove, true)
	known := map[*json.RawMessage]bool{}
	r.eachConfig(&out, func(_, _ string, _ Config, raw *json.RawMessage) { known[raw] = true })
	if !known[&out.Config] || !isObject(out.Config) {
		out.Config = json.RawMessage("{}")
	}
	for i := range out.Collectors {
		if raw := &out.Collectors[i].Config; !known[raw] || !isObject(*raw) {
			*raw = json.RawMessage("{}")
		}
	}
	return out, configured
}

func isObject(raw json.RawMessage) bool {
	_, err := parseObject(raw)
	return err == nil && len(raw) > 0
}

// eachConfig visits every config of the draft whose kind is known and that has
// a stable place for its secrets.
func (r *Registry) eachConfig(d *Draft, fn func(prefix, path string, c Config, raw *json.RawMessage)) {
	e, ok := r.strategies[d.StrategyID]
	if !ok {
		return
	}
	fn("", "config", e.kind.Config, &d.Config)
	for i := range d.Collectors {
		c := &d.Collectors[i]
		if ce, ok := e.collectors[c.CollectorID]; ok && c.ID != "" {
			fn(c.ID+"/", fmt.Sprintf("collectors[%d].config", i), ce.kind.Config, &c.Config)
		}
	}
}

func (s *Schema) walkSecrets(tree map[string]any, path string, fn func(s *Schema, path string, parent map[string]any, name string)) {
	for i := range s.Properties {
		p := &s.Properties[i]
		at := join(path, p.Name)
		if p.SecretID != "" {
			fn(&p.Schema, at, tree, p.Name)
			continue
		}
		if inner, ok := tree[p.Name].(map[string]any); ok && p.Type == "object" {
			p.walkSecrets(inner, at, fn)
		}
	}
}

// minMasked is the length from which a secret is masked; shorter ones would
// shred ordinary words (FC-042).
const minMasked = 4

const mask = "****"

// scrubber makes text safe to store and show: no secret of this check in any of
// its usual forms, valid UTF-8, no NUL.
type scrubber struct {
	forms    []string
	replacer *strings.Replacer
}

func newScrubber(secrets []string) *scrubber {
	forms := map[string]bool{}
	for _, s := range secrets {
		if len(s) < minMasked {
			continue
		}
		raw := []byte(s)
		quoted := strings.Trim(toJSON(s), `"`)
		for _, form := range []string{
			s, quoted, strings.TrimSpace(s), url.QueryEscape(s), url.PathEscape(s), url.UserPassword("", s).String()[1:],
			base64.StdEncoding.EncodeToString(raw), base64.RawStdEncoding.EncodeToString(raw),
			base64.URLEncoding.EncodeToString(raw), base64.RawURLEncoding.EncodeToString(raw),
		} {
			if len(form) >= minMasked {
				forms[form] = true
			}
		}
	}
	if len(forms) == 0 {
		return &scrubber{}
	}
	// The longest first: a secret that contains another is masked whole.
	list := slices.SortedFunc(maps.Keys(forms), func(a, b string) int { return len(b) - len(a) })
	pairs := make([]string, 0, 2*len(list))
	for _, form := range list {
		pairs = append(pairs, form, mask)
	}
	return &scrubber{list, strings.NewReplacer(pairs...)}
}

// text cleans before it masks, so that a stray byte cannot hide a secret.
func (s *scrubber) text(t string) string {
	t = strings.ToValidUTF8(t, "\uFFFD")
	if strings.IndexByte(t, 0) >= 0 {
		t = strings.ReplaceAll(t, "\x00", "")
	}
	for _, form := range s.forms {
		// Finding nothing, the usual case, is much cheaper than replacing it.
		if strings.Contains(t, form) {
			return s.replacer.Replace(t)
		}
	}
	return t
}

// value cleans every text inside v.
func (s *scrubber) value(v any) any {
	switch t := v.(type) {
	case nil, bool, int, int64, float64, json.Number:
		return v
	case string:
		return s.text(t)
	case []any:
		out := make([]any, len(t))
		for i := range t {
			out[i] = s.value(t[i])
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(t))
		for k, val := range t {
			out[s.text(k)] = s.value(val)
		}
		return out
	}
	return s.value(plainOrText(v))
}

func plainOrText(v any) any {
	if p := plainValue(v); p != nil {
		switch p.(type) {
		case bool, string, int, int64, float64, json.Number, []any, map[string]any:
			return p
		}
	}
	return nil
}
