// Package docs carries the documentation inside the binary, so that the
// assistant can read the pages of the running version without a network.
package docs

import "embed"

// Pages holds the pages for users and operators. The decision notes are for
// developers and stay out.
//
//go:embed *.md
var Pages embed.FS
