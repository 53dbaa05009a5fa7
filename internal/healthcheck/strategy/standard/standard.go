// Package standard lists the kinds of checks that this build contains. Adding
// a kind is its package and one line here.
package standard

import (
	"github.com/checkstack/checkstack/internal/healthcheck/strategy"
	"github.com/checkstack/checkstack/internal/healthcheck/strategy/httpcheck"
)

// Strategies gives every kind of check, in the order of the picker.
func Strategies() []strategy.Strategy {
	return []strategy.Strategy{
		httpcheck.New(),
	}
}

// NewRegistry gives the registry of every kind.
func NewRegistry() (*strategy.Registry, error) { return strategy.NewRegistry(Strategies()...) }
