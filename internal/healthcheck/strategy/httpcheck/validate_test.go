package httpcheck

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/checkstack/checkstack/internal/healthcheck/strategy"
)

func TestValidate(t *testing.T) {
	t.Parallel()
	r := registry(t, newCheck(nil, nil))
	good := obj{"url": "https://example.com/health"}
	for name, row := range map[string]struct {
		conf, req obj
		as        []strategy.Assertion
		want      []string
	}{
		"good":           {obj{}, good, nil, nil},
		"good templates": {obj{"proxyUrl": "{{ environment.proxy }}"}, obj{"url": "{{ environment.url }}"}, nil, nil},
		"loopback":       {obj{}, obj{"url": "http://127.0.0.1:8080/health"}, nil, nil},
		"unknown keys":   {obj{"timout": 1}, obj{"url": "http://a", "URL": "x"}, nil, []string{"config.timout", "collectors[0].config.URL"}},
		"wrong types": {obj{"timeout": "5"}, obj{"url": 5, "headers": obj{}, "followRedirects": "yes"}, nil,
			[]string{"config.timeout", "collectors[0].config.url", "collectors[0].config.headers", "collectors[0].config.followRedirects"}},
		"ranges":            {obj{"timeout": 99}, obj{"url": "http://a", "timeout": 1e9}, nil, []string{"config.timeout", "collectors[0].config.timeout"}},
		"integral float":    {obj{"timeout": json.Number("5000.0")}, good, nil, nil},
		"no url":            {obj{}, obj{}, nil, []string{"collectors[0].config.url"}},
		"null url":          {obj{}, obj{"url": nil}, nil, []string{"collectors[0].config.url"}},
		"null optional":     {obj{"proxyUrl": nil}, good, nil, nil},
		"bad scheme":        {obj{"authScheme": "digest"}, good, nil, []string{"config.authScheme"}},
		"basic without":     {obj{"authScheme": "basic"}, good, nil, []string{"config.username"}},
		"token without":     {obj{"authScheme": "token"}, good, nil, []string{"config.token"}},
		"not http":          {obj{}, obj{"url": "ftp://a"}, nil, []string{"collectors[0].config.url"}},
		"no host":           {obj{}, obj{"url": "http:///x"}, nil, []string{"collectors[0].config.url"}},
		"port":              {obj{}, obj{"url": "http://a:99999"}, nil, []string{"collectors[0].config.url"}},
		"userinfo":          {obj{}, obj{"url": "http://u:p@a"}, nil, []string{"collectors[0].config.url"}},
		"metadata":          {obj{}, obj{"url": "http://169.254.169.254/"}, nil, []string{"collectors[0].config.url"}},
		"number as host":    {obj{}, obj{"url": "http://2130706433/"}, nil, []string{"collectors[0].config.url"}},
		"proxy":             {obj{"proxyUrl": "socks5://a"}, good, nil, []string{"config.proxyUrl"}},
		"cidr":              {obj{"egressDenyCidrs": []string{"10.0.0.0/8", "10.0.0.1"}}, good, nil, []string{"config.egressDenyCidrs[1]"}},
		"header name":       {obj{}, obj{"url": "http://a", "headers": []obj{{"name": "a b", "value": ""}}}, nil, []string{"collectors[0].config.headers[0].name"}},
		"header value":      {obj{}, obj{"url": "http://a", "headers": []obj{{"name": "a", "value": "x\ny"}}}, nil, []string{"collectors[0].config.headers[0].value"}},
		"framing header":    {obj{}, obj{"url": "http://a", "headers": []obj{{"name": "content-length", "value": "1"}}}, nil, []string{"collectors[0].config.headers[0].name"}},
		"header without":    {obj{}, obj{"url": "http://a", "headers": []obj{{"name": "x"}}}, nil, []string{"collectors[0].config.headers[0].value"}},
		"secret elsewhere":  {obj{}, obj{"url": "http://a/${{ secrets.A }}"}, nil, []string{"collectors[0].config.url"}},
		"secret reference":  {obj{"authScheme": "token", "token": "${{ secrets.A }}"}, good, nil, nil},
		"unknown field":     {obj{}, good, []strategy.Assertion{assertion("status", "equals", "200")}, []string{"collectors[0].assertions[0].field"}},
		"operator":          {obj{}, good, []strategy.Assertion{assertion("statusCode", "contains", `"2"`)}, []string{"collectors[0].assertions[0].operator"}},
		"value type":        {obj{}, good, []strategy.Assertion{assertion("statusCode", "equals", `"200"`)}, []string{"collectors[0].assertions[0].value"}},
		"value missing":     {obj{}, good, []strategy.Assertion{assertion("statusCode", "equals", ``)}, []string{"collectors[0].assertions[0].value"}},
		"negative duration": {obj{}, good, []strategy.Assertion{assertion("responseTimeMs", "lessThan", `-1`)}, []string{"collectors[0].assertions[0].value"}},
		"regexp":            {obj{}, good, []strategy.Assertion{assertion("body", "matches", `"("`)}, []string{"collectors[0].assertions[0].value"}},
		"regexp size":       {obj{}, good, []strategy.Assertion{assertion("body", "matches", `"(a{30}){30}"`)}, []string{"collectors[0].assertions[0].value"}},
		"regexp length":     {obj{}, good, []strategy.Assertion{assertion("body", "matches", `"`+strings.Repeat("a", 501)+`"`)}, []string{"collectors[0].assertions[0].value"}},
		"jsonpath": {obj{}, good, []strategy.Assertion{
			{Field: "body.$", JSONPath: "$.a", Operator: "exists"}, {Field: "body", JSONPath: "$.a.length", Operator: "greaterThan", Value: json.RawMessage("1")},
			{Field: "body.$", JSONPath: "$.a[?(@.b)]", Operator: "exists"}, {Field: "body.$", Operator: "exists"},
			{Field: "body.$", JSONPath: "a..", Operator: "exists"}, {Field: "statusCode", JSONPath: "$.a", Operator: "equals", Value: json.RawMessage("1")},
		}, []string{"collectors[0].assertions[2].jsonPath", "collectors[0].assertions[3].jsonPath", "collectors[0].assertions[4].jsonPath", "collectors[0].assertions[5].jsonPath"}},
	} {
		issues := r.Validate(check(t, row.conf, row.req, row.as...).Draft)
		var got []string
		for _, is := range issues {
			got = append(got, is.Path)
			if is.Message == "" || strings.Contains(is.Message, "socks5") || strings.Contains(is.Message, "2130706433") {
				t.Errorf("%s: message %q", name, is.Message)
			}
		}
		if !slices.Equal(got, row.want) {
			t.Errorf("%s: %v, want issues at %v", name, issues, row.want)
		}
	}
}

func TestValidateDraft(t *testing.T) {
	t.Parallel()
	r := registry(t, newCheck(nil, nil))
	for name, row := range map[string]struct{ draft, path, part string }{
		"unknown strategy":  {`{"strategyId":"x"}`, "strategyId", StrategyID},
		"no collector":      {`{"strategyId":"healthcheck-http.http"}`, "collectors", CollectorID},
		"unknown collector": {`{"strategyId":"healthcheck-http.http","collectors":[{"collectorId":"x"}]}`, "collectors[0].collectorId", CollectorID},
		"config list":       {`{"strategyId":"healthcheck-http.http","config":[],"collectors":[{"collectorId":"healthcheck-http.request","config":{"url":"http://a"}}]}`, "config", "object"},
		"bad id":            {`{"strategyId":"healthcheck-http.http","collectors":[{"id":"1","collectorId":"healthcheck-http.request","config":{"url":"http://a"}}]}`, "collectors[0].id", "UUID"},
		"operators listed":  {`{"strategyId":"healthcheck-http.http","collectors":[{"collectorId":"healthcheck-http.request","config":{"url":"http://a"},"assertions":[{"field":"success","operator":"equals","value":true}]}]}`, "collectors[0].assertions[0].operator", "isTrue, isFalse"},
	} {
		var d strategy.Draft
		if err := json.Unmarshal([]byte(row.draft), &d); err != nil {
			t.Fatal(err)
		}
		issues := r.Validate(d)
		if len(issues) != 1 || issues[0].Path != row.path || !strings.Contains(issues[0].Message, row.part) {
			t.Errorf("%s: %v, want one issue at %s with %q", name, issues, row.path, row.part)
		}
	}
}

func TestNormalizeAndSecrets(t *testing.T) {
	t.Parallel()
	r := registry(t, newCheck(nil, nil))
	d := check(t, obj{"authScheme": "token", "token": "abcdef", "password": "${{ secrets.PW }}"}, obj{"url": "http://a"},
		strategy.Assertion{Field: "body", JSONPath: "$.a", Operator: "exists", Value: json.RawMessage("1")}).Draft
	d.Collectors[0].ID = ""
	n := r.Normalize(d)
	if len(n.Collectors[0].ID) != 36 || n.Collectors[0].ID[14] != '7' || d.Collectors[0].ID != "" {
		t.Errorf("id %q of the copy, %q of the original", n.Collectors[0].ID, d.Collectors[0].ID)
	}
	if a := n.Collectors[0].Assertions[0]; a.Field != "body.$" || a.Value != nil {
		t.Errorf("assertion %+v", a)
	}
	for _, part := range []string{`"timeout":30000`, `"authScheme":"token"`} {
		if !strings.Contains(string(n.Config), part) {
			t.Errorf("%s is not in %s", part, n.Config)
		}
	}
	for _, part := range []string{`"method":"GET"`, `"followRedirects":true`} {
		if !strings.Contains(string(n.Collectors[0].Config), part) {
			t.Errorf("%s is not in %s", part, n.Collectors[0].Config)
		}
	}
	fields := r.SecretFields(n)
	var keys []string
	for _, f := range fields {
		keys = append(keys, f.Key+"@"+f.Path)
	}
	if want := []string{"password@config.password", "token@config.token", "proxyPassword@config.proxyPassword"}; !slices.Equal(keys, want) {
		t.Errorf("secret fields %v, want %v", keys, want)
	}
	if !fields[0].IsReference() || fields[1].IsReference() || fields[2].Present {
		t.Errorf("%+v", fields)
	}
	red, configured := r.Redact(n)
	if strings.Contains(string(red.Config), "abcdef") || !strings.Contains(string(red.Config), "secrets.PW") {
		t.Errorf("redacted %s", red.Config)
	}
	if want := []string{"config.password", "config.token"}; !slices.Equal(configured, want) {
		t.Errorf("configured %v, want %v", configured, want)
	}
	marker := "marker"
	set := r.WithSecrets(n, map[string]*string{"token": &marker, "password": nil})
	if !strings.Contains(string(set.Config), `"token":"marker"`) || strings.Contains(string(set.Config), "password") {
		t.Errorf("set %s", set.Config)
	}
	unknown, _ := r.Redact(strategy.Draft{StrategyID: "gone.gone", Config: json.RawMessage(`{"token":"abcdef"}`)})
	if string(unknown.Config) != "{}" {
		t.Errorf("a config of an unknown kind reads as %s", unknown.Config)
	}
}
