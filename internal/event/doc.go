// Package event tells others that something happened. It has two ways, for two
// needs.
//
// Topics (topic.go) are for the product itself: one domain reacts to another
// without importing it. An event is published inside the transaction that makes
// it true, so it exists exactly when that transaction commits. It is delivered
// to each subscriber at least once, however often the process is killed, by one
// replica, with growing pauses between failed attempts:
//
//	tx: change + Publish ──commit──► one job per subscriber ──► subscriber
//	                                        ▲                    │ error, panic, kill
//	                                        └── later, again ────┘
//
// A subscriber has to live with being told twice (Event.ID is the same then),
// and with events arriving out of order. Who reacts to what is said in one
// place, internal/app/subscriptions.go.
//
// Signals (signals.go) are for browsers. A signal names what changed by id; it
// never carries the data itself, so a browser asks for it again and the answer
// obeys the viewer's rights. Signals are best effort: publishing never fails
// and never undoes a committed write. On PostgreSQL a signal reaches the
// browsers of every replica through LISTEN/NOTIFY; on SQLite there is only this
// process.
package event
