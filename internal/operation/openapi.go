package operation

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/checkstack/checkstack/internal/problem"
)

// OpenAPI describes the set as an OpenAPI 3.1 document.
func (s *Set) OpenAPI(version, serverURL string) ([]byte, error) {
	reg := huma.NewMapRegistry("#/components/schemas/", schemaName)
	doc := &huma.OpenAPI{
		OpenAPI: "3.1.0",
		Info: &huma.Info{
			Title:       "Checkstack",
			Version:     version,
			Description: "Operations of Checkstack. Send an application key as `Authorization: Bearer ck_…`, or use the session cookie of a signed-in person.",
		},
		Components: &huma.Components{
			Schemas: reg,
			SecuritySchemes: map[string]*huma.SecurityScheme{
				"applicationKey": {Type: "http", Scheme: "bearer", Description: "An application key, ck_{id}_{secret}"},
				"session":        {Type: "apiKey", In: "cookie", Name: "checkstack_session"},
			},
		},
		Paths: map[string]*huma.PathItem{},
	}
	if serverURL != "" {
		doc.Servers = []*huma.Server{{URL: serverURL}}
	}
	failure := reg.Schema(reflect.TypeFor[problem.Body](), true, "Error")
	for _, op := range s.ops {
		doc.AddOperation(describe(op, reg, failure))
	}
	b, err := json.MarshalIndent(doc, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("openapi document: %w", err)
	}
	return append(b, '\n'), nil
}

func describe(op Operation, reg huma.Registry, failure *huma.Schema) *huma.Operation {
	d := op.Declaration()
	rules := make([]string, len(d.Access))
	for i, r := range d.Access {
		rules[i] = r.ID
	}
	o := &huma.Operation{
		OperationID: strings.ReplaceAll(d.ID, ".", "_"),
		Method:      d.Method,
		Path:        d.Path(),
		Summary:     d.Summary,
		Description: d.Description,
		Tags:        []string{d.Plugin()},
		Extensions: map[string]any{"x-checkstack": map[string]any{
			"id": d.ID, "operationType": d.Kind, "userType": d.Caller, "access": rules,
		}},
		Responses: map[string]*huma.Response{
			"200": {Description: "Success", Content: jsonContent(reg.Schema(op.Output().typ, true, d.Procedure()+"Output"))},
			"default": {Description: "The operation was refused or failed; nothing was changed",
				Content: jsonContent(failure)},
		},
	}
	if d.Caller != Anonymous {
		o.Security = []map[string][]string{{"applicationKey": {}}, {"session": {}}}
	}
	in := op.Input()
	if d.Method == http.MethodGet {
		for _, name := range slices.Sorted(maps.Keys(in.root.Properties)) {
			p := reg.Schema(op.Input().typ, false, "").Properties[name]
			style := ""
			if rp := in.resolve(in.root.Properties[name]); rp != nil && rp.Type == huma.TypeObject {
				style = "deepObject"
			}
			o.Parameters = append(o.Parameters, &huma.Param{
				Name: name, In: "query", Required: slices.Contains(in.root.Required, name),
				Description: p.Description, Schema: p, Style: style,
			})
		}
	} else if len(in.root.Properties) > 0 {
		o.RequestBody = &huma.RequestBody{
			Required: len(in.root.Required) > 0,
			Content:  jsonContent(reg.Schema(op.Input().typ, true, d.Procedure()+"Input")),
		}
	}
	return o
}

func jsonContent(s *huma.Schema) map[string]*huma.MediaType {
	return map[string]*huma.MediaType{"application/json": {Schema: s}}
}
