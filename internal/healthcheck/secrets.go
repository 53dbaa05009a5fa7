package healthcheck

import (
	"encoding/json"
	"errors"
	"strconv"
	"strings"

	"github.com/checkstack/checkstack/internal/healthcheck/strategy"
	"github.com/checkstack/checkstack/internal/problem"
	"github.com/checkstack/checkstack/internal/secret"
)

// stored marks, in a configuration's row, a secret field whose value is in the
// secret store. Reads strip it.
const stored = "(stored)"

// errSecretMissing means that a row marks a secret which the store does not have.
var errSecretMissing = errors.New("a secret of this check is missing from the secret store: enter it again")

// secretScope is where the secrets of a configuration are kept.
func secretScope(configurationID string) string { return "healthcheck:" + configurationID }

// secretKinds is the part of the check kinds that knows where secrets are.
type secretKinds interface {
	SecretFields(strategy.Draft) []strategy.SecretField
	WithSecrets(strategy.Draft, map[string]*string) strategy.Draft
	Redact(strategy.Draft) (strategy.Draft, []string)
}

// prepared is a submitted draft, ready to be stored.
type prepared struct {
	// row is what the configuration's row keeps: marks in place of secrets.
	row strategy.Draft
	// full has the secrets in it, typed in or kept.
	full strategy.Draft
	// put are new values, drop the names whose value is no longer used.
	put  map[string]secret.String
	drop []string
}

// prepare validates a submitted draft and takes its secrets out. A secret field
// that is absent or blank keeps the value in kept; null removes it. Every fault
// of the draft is listed.
func (s *Service) prepare(d strategy.Draft, kept map[string]secret.String) (prepared, []problem.Issue) {
	cleared := clearedSecrets(d, s.kinds.SecretFields(d))
	d = s.kinds.Normalize(d)
	p := prepared{put: map[string]secret.String{}}
	full, row := map[string]*string{}, map[string]*string{}
	used := map[string]bool{}
	var issues []problem.Issue
	for _, f := range s.kinds.SecretFields(d) {
		old, have := kept[f.Key]
		switch {
		case f.IsReference():
			issues = append(issues, problem.Issue{Path: f.Path, Message: "references to named secrets are not available for health checks; enter the value itself"})
			continue
		case f.Value != "" && f.Value != stored:
			p.put[f.Key] = secret.New(f.Value)
		case have && !cleared[f.Key]:
			value := old.Reveal()
			full[f.Key] = &value
		default:
			full[f.Key], row[f.Key] = nil, nil
			continue
		}
		used[f.Key] = true
		mark := stored
		row[f.Key] = &mark
	}
	for name := range kept {
		if !used[name] {
			p.drop = append(p.drop, name)
		}
	}
	p.full, p.row = s.kinds.WithSecrets(d, full), s.kinds.WithSecrets(d, row)
	return p, append(s.kinds.Validate(p.full), issues...)
}

// resolve puts the stored secrets into a row's draft.
func (s *Service) resolve(row strategy.Draft, values map[string]secret.String) (strategy.Draft, error) {
	set := map[string]*string{}
	for _, f := range s.kinds.SecretFields(row) {
		if f.Value != stored {
			continue
		}
		v, ok := values[f.Key]
		if !ok {
			return strategy.Draft{}, errSecretMissing
		}
		text := v.Reveal()
		set[f.Key] = &text
	}
	if len(set) == 0 {
		return row, nil
	}
	return s.kinds.WithSecrets(row, set), nil
}

// clearedSecrets gives the keys of the secret fields that are explicitly null.
func clearedSecrets(d strategy.Draft, fields []strategy.SecretField) map[string]bool {
	cleared := map[string]bool{}
	for _, f := range fields {
		if f.Present {
			continue
		}
		raw, path := d.Config, f.Path
		if rest, ok := strings.CutPrefix(path, "collectors["); ok {
			index, after, _ := strings.Cut(rest, "]")
			i, err := strconv.Atoi(index)
			if err != nil || i >= len(d.Collectors) {
				continue
			}
			raw, path = d.Collectors[i].Config, strings.TrimPrefix(after, ".")
		}
		if isNull(raw, strings.Split(path, ".")[1:]) {
			cleared[f.Key] = true
		}
	}
	return cleared
}

// isNull says whether raw has an explicit null at keys.
func isNull(raw json.RawMessage, keys []string) bool {
	for _, key := range keys {
		var object map[string]json.RawMessage
		if json.Unmarshal(raw, &object) != nil {
			return false
		}
		next, ok := object[key]
		if !ok {
			return false
		}
		raw = next
	}
	return len(keys) > 0 && strings.TrimSpace(string(raw)) == "null"
}
