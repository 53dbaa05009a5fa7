package strategy

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"
)

const (
	maxPatternLength = 500
	// maxPatternSize bounds the compiled program: matching costs program size
	// times text length, and a body may have a million characters.
	maxPatternSize = 500
	maxValueLength = 2000
	maxActual      = 200
	maxRawBody     = 1 << 20
)

// Outcome is one assertion's result in one run. It is stored in the
// collector's result under "_assertions".
type Outcome struct {
	// Key identifies the series: the canonical JSON of field, path, operator, value.
	Key      string          `json:"key"`
	Field    string          `json:"field"`
	JSONPath string          `json:"jsonPath,omitempty"`
	Operator string          `json:"operator"`
	Value    json.RawMessage `json:"value,omitempty"`
	Passed   bool            `json:"passed"`
	// Actual is the text of what was found, at most 200 characters.
	Actual string `json:"actual,omitempty"`
	// Message says what was expected and found, when the assertion failed.
	Message string `json:"message,omitempty"`
}

type valueRule uint8

const (
	noValue valueRule = iota
	anyScalar
	textValue
	patternValue
	numberValue
	countValue
)

type operator struct {
	label string
	value valueRule
	test  func(s subject, want any, re *regexp.Regexp) bool
}

// subject is what an assertion looks at.
type subject struct {
	value any
	found bool
}

func (s subject) exists() bool { return s.found && s.value != nil }

// operators is the semantics table of spec/monitoring.md 4.11.
var operators = map[string]operator{
	"exists":             {"to exist", noValue, func(s subject, _ any, _ *regexp.Regexp) bool { return s.exists() }},
	"notExists":          {"not to exist", noValue, func(s subject, _ any, _ *regexp.Regexp) bool { return !s.exists() }},
	"isTrue":             {"to be true", noValue, func(s subject, _ any, _ *regexp.Regexp) bool { return s.value == true }},
	"isFalse":            {"to be false", noValue, func(s subject, _ any, _ *regexp.Regexp) bool { return s.value == false }},
	"isEmpty":            {"to be empty", noValue, func(s subject, _ any, _ *regexp.Regexp) bool { return isEmpty(s) }},
	"isNotEmpty":         {"not to be empty", noValue, func(s subject, _ any, _ *regexp.Regexp) bool { return !isEmpty(s) }},
	"equals":             {"to equal", anyScalar, func(s subject, want any, _ *regexp.Regexp) bool { return equal(s, want) }},
	"notEquals":          {"not to equal", anyScalar, func(s subject, want any, _ *regexp.Regexp) bool { return !s.found || toText(s.value) != toText(want) }},
	"contains":           {"to contain", textValue, onText(strings.Contains)},
	"startsWith":         {"to start with", textValue, onText(strings.HasPrefix)},
	"endsWith":           {"to end with", textValue, onText(strings.HasSuffix)},
	"matches":            {"to match pattern", patternValue, matches},
	"lessThan":           {"to be less than", numberValue, onNumber(func(a, b float64) bool { return a < b })},
	"lessThanOrEqual":    {"to be at most", numberValue, onNumber(func(a, b float64) bool { return a <= b })},
	"greaterThan":        {"to be greater than", numberValue, onNumber(func(a, b float64) bool { return a > b })},
	"greaterThanOrEqual": {"to be at least", numberValue, onNumber(func(a, b float64) bool { return a >= b })},
	"includes":           {"to include", anyScalar, func(s subject, want any, _ *regexp.Regexp) bool { return includes(s, want) == 1 }},
	"notIncludes":        {"not to include", anyScalar, func(s subject, want any, _ *regexp.Regexp) bool { return includes(s, want) == 0 }},
	"lengthEquals":       {"to have length", countValue, onLength(func(a, b float64) bool { return a == b })},
	"lengthGreaterThan":  {"to have a length greater than", countValue, onLength(func(a, b float64) bool { return a > b })},
	"lengthLessThan":     {"to have a length less than", countValue, onLength(func(a, b float64) bool { return a < b })},
}

var kindOperators = map[FieldKind][]string{
	KindString:   {"equals", "notEquals", "contains", "startsWith", "endsWith", "matches", "isEmpty"},
	KindNumber:   {"equals", "notEquals", "lessThan", "lessThanOrEqual", "greaterThan", "greaterThanOrEqual"},
	KindBoolean:  {"isTrue", "isFalse"},
	KindEnum:     {"equals"},
	KindArray:    {"includes", "notIncludes", "lengthEquals", "lengthGreaterThan", "lengthLessThan", "isEmpty", "isNotEmpty", "exists", "notExists"},
	KindDuration: {"lessThan", "lessThanOrEqual"},
	KindJSONPath: {
		"equals", "notEquals", "contains", "startsWith", "endsWith", "matches", "exists", "notExists",
		"lessThan", "lessThanOrEqual", "greaterThan", "greaterThanOrEqual", "isEmpty", "isNotEmpty",
	},
}

// AssertionOperators lists the operators of each field kind, for a model that
// drafts assertions.
func AssertionOperators() map[FieldKind][]string {
	out := make(map[FieldKind][]string, len(kindOperators))
	for kind := range kindOperators {
		out[kind] = operatorsOf(kind)
	}
	return out
}

func operatorsOf(kind FieldKind) []string { return slices.Clone(kindOperators[kind]) }

// assertion is an Assertion that is ready to judge.
type assertion struct {
	Assertion
	field AssertionField
	op    operator
	want  any
	re    *regexp.Regexp
	path  *jsonPath
	fault string
	key   string
}

// prepareAssertion never fails: what cannot be judged fails each run with the
// reason, because a stored assertion must not silently stop counting.
func prepareAssertion(a Assertion, fields []AssertionField) *assertion {
	out := &assertion{Assertion: a}
	for _, is := range checkAssertion("", a, fields, out) {
		if out.fault == "" {
			out.fault = is.Message
		}
	}
	out.key = assertionKey(a)
	return out
}

// judge gives the outcome for a collector's result.
func (a *assertion) judge(m Measurement, scrub *scrubber) Outcome {
	out := Outcome{Key: a.key, Field: a.Field, JSONPath: a.JSONPath, Operator: a.Operator, Value: a.Value}
	if a.fault != "" {
		out.Message = a.name() + ": " + a.fault
		return out
	}
	root := strings.TrimSuffix(a.Field, rawSuffix)
	if reason, ok := m.Unusable[root]; ok {
		out.Message = a.name() + ": " + reason
		return out
	}
	s, diagnostic := a.subject(m.Fields, root)
	if diagnostic != "" {
		out.Message = a.name() + ": " + diagnostic
		return out
	}
	if s.found {
		out.Actual = clip(scrub.text(toText(s.value)), maxActual)
	}
	if out.Passed = a.op.test(s, a.want, a.re); !out.Passed {
		out.Message = a.failure(s, scrub)
	}
	return out
}

func (a *assertion) subject(fields map[string]any, root string) (subject, string) {
	if a.path == nil {
		v, found := fieldValue(fields, a.Field)
		return subject{v, found}, ""
	}
	text, found := fieldValue(fields, root)
	raw, ok := text.(string)
	if !found || !ok {
		return subject{}, "there is no body to read"
	}
	if len(raw) > maxRawBody {
		return subject{}, "the body is too large to read as JSON"
	}
	doc, err := parseJSON([]byte(raw))
	if err != nil {
		return subject{}, "the body is not valid JSON"
	}
	v, found, err := a.path.eval(doc)
	if err != nil {
		return subject{}, err.Error()
	}
	return subject{v, found}, ""
}

// failure is "<field>: expected <label> <json>, got <json>".
func (a *assertion) failure(s subject, scrub *scrubber) string {
	var b strings.Builder
	b.WriteString(a.name())
	b.WriteString(": expected ")
	b.WriteString(a.op.label)
	if a.op.value != noValue {
		b.WriteByte(' ')
		b.WriteString(clip(toJSON(a.want), maxActual))
	}
	b.WriteString(", got ")
	if s.found {
		b.WriteString(clip(toJSON(scrub.value(s.value)), maxActual))
	} else {
		b.WriteString("nothing")
	}
	return b.String()
}

func (a *assertion) name() string {
	if a.JSONPath == "" {
		return clip(a.Field, maxActual)
	}
	return strings.TrimSuffix(a.Field, rawSuffix) + " " + clip(a.JSONPath, maxActual)
}

// summary is "Assertion failed: <field> <operator> <value>", and what was found
// unless it is part of a raw text that details alone may show.
func (a *assertion) summary(o Outcome) string {
	text := "Assertion failed: " + a.name() + " " + clip(a.Operator, maxActual)
	if a.op.value != noValue {
		text += " " + clip(toText(a.want), maxActual)
	}
	if o.Actual != "" && !a.field.ephemeral {
		text += " (got " + o.Actual + ")"
	}
	return text
}

// assertionKey is the canonical JSON of [field, jsonPath, operator, value].
func assertionKey(a Assertion) string {
	var path any
	if a.JSONPath != "" {
		path = a.JSONPath
	}
	var value any
	if len(a.Value) > 0 {
		value, _ = parseJSON(a.Value)
	}
	return toJSON([]any{a.Field, path, a.Operator, canonical(value)})
}

// canonical writes equal numbers alike; objects are sorted by encoding/json.
func canonical(v any) any {
	switch t := v.(type) {
	case json.Number:
		if f, err := t.Float64(); err == nil && !isInteger(t) {
			return f
		}
	case []any:
		for i := range t {
			t[i] = canonical(t[i])
		}
	case map[string]any:
		for k := range t {
			t[k] = canonical(t[k])
		}
	}
	return v
}

// compilePattern compiles a bounded RE2 pattern.
func compilePattern(text string) (*regexp.Regexp, string) {
	if len(text) > maxPatternLength {
		return nil, fmt.Sprintf("must have at most %d characters", maxPatternLength)
	}
	parsed, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return nil, "is not a valid regular expression (RE2 syntax: no look-around, no back-references)"
	}
	prog, err := syntax.Compile(parsed.Simplify())
	if err != nil || len(prog.Inst) > maxPatternSize {
		return nil, "is too complex a regular expression: use smaller repetition counts"
	}
	re, err := regexp.Compile(text)
	if err != nil {
		return nil, "is not a valid regular expression (RE2 syntax: no look-around, no back-references)"
	}
	return re, ""
}

func onText(test func(s, sub string) bool) func(subject, any, *regexp.Regexp) bool {
	return func(s subject, want any, _ *regexp.Regexp) bool {
		return s.found && test(toText(s.value), toText(want))
	}
}

func matches(s subject, _ any, re *regexp.Regexp) bool {
	return re != nil && s.found && re.MatchString(toText(s.value))
}

func onNumber(test func(a, b float64) bool) func(subject, any, *regexp.Regexp) bool {
	return func(s subject, want any, _ *regexp.Regexp) bool {
		a, okA := toNumber(s.value)
		b, okB := toNumber(want)
		return okA && okB && test(a, b)
	}
}

func onLength(test func(a, b float64) bool) func(subject, any, *regexp.Regexp) bool {
	return func(s subject, want any, _ *regexp.Regexp) bool {
		list, ok := s.value.([]any)
		b, okB := toNumber(want)
		return ok && okB && test(float64(len(list)), b)
	}
}

// includes gives 1, 0, or -1 for what is no list.
func includes(s subject, want any) int {
	list, ok := s.value.([]any)
	if !ok {
		return -1
	}
	text := toText(want)
	for _, item := range list {
		if toText(item) == text {
			return 1
		}
	}
	return 0
}

func isEmpty(s subject) bool {
	switch t := s.value.(type) {
	case nil:
		return true
	case []any:
		return len(t) == 0
	case map[string]any:
		return len(t) == 0
	case string:
		return strings.TrimSpace(t) == ""
	}
	// A number or a boolean is a value, also when it is 0 or false.
	return false
}

// equal compares numerically when both sides are numbers, else by text.
func equal(s subject, want any) bool {
	if !s.found {
		return false
	}
	a, b := toText(s.value), toText(want)
	if a == b {
		return (s.value == nil) == (want == nil)
	}
	x, okX := toNumber(s.value)
	y, okY := toNumber(want)
	if !okX || !okY {
		return false
	}
	if _, err := strconv.ParseInt(a, 10, 64); err == nil {
		if _, err := strconv.ParseInt(b, 10, 64); err == nil {
			// Two whole numbers beyond 2^53 may share a float; "007" may not
			// share a text with 7.
			i, _ := strconv.ParseInt(a, 10, 64)
			j, _ := strconv.ParseInt(b, 10, 64)
			return i == j
		}
	}
	return x == y
}

// toNumber reads numbers and texts in plain decimal notation.
func toNumber(v any) (float64, bool) {
	switch t := v.(type) {
	case float64:
		return t, t == t
	case int:
		return float64(t), true
	case int64:
		return float64(t), true
	case json.Number:
		return parseNumber(string(t))
	case string:
		return parseNumber(strings.TrimSpace(t))
	}
	return 0, false
}

func parseNumber(text string) (float64, bool) {
	if text == "" || strings.Trim(text, "0123456789+-.eE") != "" {
		return 0, false
	}
	f, err := strconv.ParseFloat(text, 64)
	return f, err == nil
}

// toText is the string form of a value.
func toText(v any) string {
	switch t := v.(type) {
	case string:
		return t
	case float64:
		return strconv.FormatFloat(t, 'f', -1, 64)
	case int:
		return strconv.Itoa(t)
	case int64:
		return strconv.FormatInt(t, 10)
	case json.Number:
		return string(t)
	case bool:
		return strconv.FormatBool(t)
	}
	return toJSON(v)
}

func toJSON(v any) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return "null"
	}
	return strings.TrimSuffix(b.String(), "\n")
}
