package strategy

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/google/uuid"

	"github.com/checkstack/checkstack/internal/problem"
)

const (
	maxCollectors = 20
	maxAssertions = 50
)

// Validate lists every fault of a draft, with paths such as "config.timeout",
// "collectors[0].config.url" and "collectors[0].assertions[1].operator". REST,
// the web form and the model's tools all use it. An empty list means that the
// draft can be stored and run.
func (r *Registry) Validate(d Draft) []problem.Issue {
	e, ok := r.strategies[d.StrategyID]
	if !ok {
		return []problem.Issue{{
			Path:    "strategyId",
			Message: "is not a known strategy; available: " + strings.Join(r.ids(), ", "),
		}}
	}
	issues := validateConfig("config", e.kind.Config, e.strategy, d.Config)
	if len(d.Collectors) == 0 && e.kind.NeedsCollector {
		issues = append(issues, problem.Issue{
			Path:    "collectors",
			Message: "needs at least one collector, or nothing is measured; available: " + strings.Join(e.collectorIDs(), ", "),
		})
	}
	if len(d.Collectors) > maxCollectors {
		return append(issues, problem.Issue{
			Path: "collectors", Message: fmt.Sprintf("must have at most %d entries", maxCollectors),
		})
	}
	ids, kinds := map[string]bool{}, map[string]bool{}
	for i, c := range d.Collectors {
		path := fmt.Sprintf("collectors[%d]", i)
		issues = append(issues, checkInstanceID(path+".id", c.ID, ids)...)
		issues = append(issues, e.validateCollector(path, c, kinds)...)
	}
	return issues
}

func checkInstanceID(path, id string, seen map[string]bool) []problem.Issue {
	if id == "" {
		return nil
	}
	if _, err := uuid.Parse(id); err != nil || len(id) != 36 {
		return []problem.Issue{{Path: path, Message: "must be a UUID; leave it out for a new collector"}}
	}
	if id = strings.ToLower(id); seen[id] {
		return []problem.Issue{{Path: path, Message: "is used by another collector of this check"}}
	}
	seen[id] = true
	return nil
}

func (e *entry) validateCollector(path string, c CollectorConfig, seen map[string]bool) []problem.Issue {
	col, ok := e.collectors[c.CollectorID]
	if !ok {
		return []problem.Issue{{
			Path:    path + ".collectorId",
			Message: "is not a collector of this strategy; available: " + strings.Join(e.collectorIDs(), ", "),
		}}
	}
	var issues []problem.Issue
	if seen[c.CollectorID] && !col.kind.AllowMultiple {
		issues = append(issues, problem.Issue{Path: path + ".collectorId", Message: "can be used only once in a check"})
	}
	seen[c.CollectorID] = true
	issues = append(issues, validateConfig(path+".config", col.kind.Config, col.collector, c.Config)...)
	if len(c.Assertions) > maxAssertions {
		return append(issues, problem.Issue{
			Path: path + ".assertions", Message: fmt.Sprintf("must have at most %d entries", maxAssertions),
		})
	}
	for i, a := range c.Assertions {
		issues = append(issues, checkAssertion(fmt.Sprintf("%s.assertions[%d]", path, i), a, col.fields, nil)...)
	}
	return issues
}

// validateConfig checks a config as the editor wants it: strictly, after the
// upgrades.
func validateConfig(path string, c Config, kind any, raw json.RawMessage) []problem.Issue {
	tree, err := parseObject(raw)
	if err != nil {
		return []problem.Issue{{Path: path, Message: err.Error()}}
	}
	c.upgrade(tree)
	c.Schema.prune(tree, false)
	issues := c.Schema.validate(path, tree)
	if len(issues) > 0 {
		return issues
	}
	v, ok := kind.(Validator)
	if !ok {
		return nil
	}
	c.Schema.fill(tree)
	cfg, err := c.decode(tree)
	if err != nil {
		return []problem.Issue{{Path: path, Message: "cannot be read"}}
	}
	for _, is := range v.Validate(cfg) {
		issues = append(issues, problem.Issue{Path: join(path, is.Path), Message: is.Message})
	}
	return issues
}

// checkAssertion lists the faults of an assertion and, when into is given,
// leaves there what judging it needs.
func checkAssertion(path string, a Assertion, fields []AssertionField, into *assertion) []problem.Issue {
	if into == nil {
		into = &assertion{}
	}
	var issues []problem.Issue
	add := func(name, format string, args ...any) {
		issues = append(issues, problem.Issue{Path: join(path, name), Message: fmt.Sprintf(format, args...)})
	}
	field, ok := findField(a, fields)
	if !ok {
		names := make([]string, len(fields))
		for i, f := range fields {
			names[i] = f.Path
		}
		add("field", "is not a result of this collector; available: %s", strings.Join(names, ", "))
		return issues
	}
	into.field = field
	if field.Kind == KindJSONPath {
		p, err := parseJSONPath(a.JSONPath)
		if err != nil {
			add("jsonPath", "%s", err.Error())
		}
		into.path = p
	} else if a.JSONPath != "" {
		add("jsonPath", "is accepted only for a field that holds a raw body, written with %q at its end", rawSuffix)
	}
	if !slices.Contains(field.Operators, a.Operator) {
		add("operator", "is not available for this field; available: %s", strings.Join(field.Operators, ", "))
		return issues
	}
	into.op = operators[a.Operator]
	if message := checkValue(a.Value, field, into); message != "" {
		add("value", "%s", message)
	}
	return issues
}

// findField takes "body" with a JSONPath for "body.$", which models write.
func findField(a Assertion, fields []AssertionField) (AssertionField, bool) {
	name := assertionField(a, fields)
	for _, f := range fields {
		if f.Path == name {
			return f, true
		}
	}
	return AssertionField{}, false
}

func assertionField(a Assertion, fields []AssertionField) string {
	if a.JSONPath == "" || strings.HasSuffix(a.Field, rawSuffix) {
		return a.Field
	}
	raw := a.Field + rawSuffix
	if slices.ContainsFunc(fields, func(f AssertionField) bool { return f.Path == raw }) {
		return raw
	}
	return a.Field
}

// checkValue gives the fault of an assertion's value, or nothing.
func checkValue(raw json.RawMessage, field AssertionField, into *assertion) string {
	var value any
	if len(raw) > 0 {
		v, err := parseJSON(raw)
		if err != nil {
			return err.Error()
		}
		value = v
	}
	if into.op.value == noValue {
		return ""
	}
	if value == nil {
		return "is required for this operator"
	}
	into.want = value
	text, isText := value.(string)
	number, isNumber := toNumber(value)
	_, isBool := value.(bool)
	switch {
	case utf8.RuneCountInString(text) > maxValueLength:
		return fmt.Sprintf("must have at most %d characters", maxValueLength)
	case strings.ContainsRune(text, 0):
		return "must not contain the NUL character"
	case !isText && !isNumber && !isBool:
		return "must be a text, a number, or true or false"
	}
	switch into.op.value {
	case patternValue:
		if !isText || text == "" {
			return "must be a regular expression in a text"
		}
		re, fault := compilePattern(text)
		into.re = re
		return fault
	case textValue:
		if !isText || text == "" {
			return "must be a text that is not empty"
		}
	case numberValue:
		switch {
		case !isNumber || isText:
			return "must be a number"
		case field.Kind == KindDuration && number < 0:
			return "must be a number of milliseconds, 0 or more"
		}
	case countValue:
		if !isNumber || isText || number < 0 || number != float64(int64(number)) {
			return "must be a whole number, 0 or more"
		}
	case anyScalar:
		return checkScalar(field, text, isText, isNumber)
	}
	return ""
}

func checkScalar(field AssertionField, text string, isText, isNumber bool) string {
	switch field.Kind {
	case KindString:
		if !isText {
			return "must be a text"
		}
	case KindNumber:
		if !isNumber || isText {
			return "must be a number"
		}
	case KindEnum:
		if !slices.Contains(field.Options, text) {
			return "must be one of " + strings.Join(field.Options, ", ")
		}
	}
	return ""
}
