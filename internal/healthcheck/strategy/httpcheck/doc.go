// Package httpcheck is the HTTP strategy, spec/monitoring.md 5.2: a strategy
// that holds authentication, proxy and egress rules, and a collector that makes
// one request.
//
// What a run does, and its limits:
//   - every run uses new connections, so that it sees faults of DNS, TCP and TLS;
//   - loopback and private addresses may be watched, link-local, unique-local and
//     metadata addresses never, nor the configured ranges; each hop of a redirect
//     is judged anew, on the address that is dialled;
//   - at most 10 redirects are followed, never from https to http. Authentication,
//     cookies and all other configured headers stay on the host they were meant
//     for, and a body is not sent on to another host;
//   - at most 1 MiB of the body is read, after decompression. The rest is cut off,
//     bodyTruncated says so, and assertions on body and bodyLength then fail;
//   - an answer that ends early is a failure of the transport, as are timeouts,
//     which cover everything up to the last byte;
//   - no proxy means direct. Proxies of the environment are never used. With a
//     proxy the egress rules judge the proxy's address and no timings are taken;
//     an answer of the proxy itself, such as 407 or 502, is an answer;
//   - an error names the host and the cause, never the path, query or credentials.
//
// Read httpcheck.go for config and results, then request.go and exchange.go for one run.
package httpcheck
