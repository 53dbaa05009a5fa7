//go:build noweb

// Package web carries the built browser interface inside the binary. This
// variant, chosen by the build tag `noweb`, carries nothing.
package web

import "io/fs"

// Files reports that this binary has no interface inside.
func Files() (fs.FS, bool) { return nil, false }
