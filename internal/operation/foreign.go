package operation

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

// ReadSchema reads the JSON Schema of an object that no Go type stands for,
// such as one that a person defined, for Check and Decode into an any. It
// knows the words that SchemaOf writes, with one type per position and without
// references; anything else is an error.
func ReadSchema(raw json.RawMessage) (*Schema, error) {
	if strings.Contains(string(raw), `"$ref"`) {
		return nil, errors.New("references are not supported in this schema")
	}
	root := new(huma.Schema)
	if err := json.Unmarshal(raw, root); err != nil {
		var wrong *json.UnmarshalTypeError
		if errors.As(err, &wrong) {
			return nil, fmt.Errorf("%q is not supported in this form", wrong.Field)
		}
		return nil, errors.New("the schema is not valid JSON")
	}
	if root.Type != huma.TypeObject {
		return nil, errors.New("the schema must describe an object")
	}
	if err := known(root); err != nil {
		return nil, err
	}
	root.PrecomputeMessages()
	return &Schema{typ: reflect.TypeFor[any](), root: root, reg: huma.NewMapRegistry("#/$defs/", schemaName)}, nil
}

func known(s *huma.Schema) error {
	switch s.Type {
	case huma.TypeObject, huma.TypeArray, huma.TypeString, huma.TypeNumber, huma.TypeInteger, huma.TypeBoolean:
	default:
		return fmt.Errorf("the type %q is not supported", s.Type)
	}
	for name, p := range s.Properties {
		if p == nil {
			return fmt.Errorf("the field %q has no schema", name)
		}
		if err := known(p); err != nil {
			return err
		}
	}
	if s.Type == huma.TypeArray {
		if s.Items == nil {
			return errors.New("a list needs a schema of its items")
		}
		return known(s.Items)
	}
	return nil
}
