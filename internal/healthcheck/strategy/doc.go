// Package strategy is what a health check consists of and how one run of it is
// made. It knows no database, no schedule and no system: the core and a remote
// location run the same code.
//
// A Strategy is a kind of target: it connects. A Collector measures over the
// connection. Both describe their config and their result with a Schema, from
// which the web form, the assertion picker, the model's tools and the strict
// validation all follow. Assertions judge what was measured.
//
// One run (run.go), spec/monitoring.md 4.4:
//
//	render templates -> connect -> collectors in parallel -> close -> assertions -> strip ephemeral fields
//
// A collector reports an error only when the probe could not complete;
// everything that the target answered is data for assertions (4.5). The whole
// sequence ends at the strategy's timeout, whatever a kind does. A panic in a
// kind is an unhealthy run.
//
// Invariants: secret values of the config, and the forms in which a kind sends
// them, never appear in a result; neither do characters that a database cannot
// store. Only fields marked templatable are rendered, and a secret field never is.
//
// Read kind.go for the interfaces, schema.go for what describes a config, then
// registry.go and run.go.
package strategy
