package healthcheck

import (
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"hash/fnv"
	"time"

	"github.com/google/uuid"
)

// spreadMs bounds how long overdue slices are spread out after a stop: all of
// them run within this time, or within their interval when it is shorter.
const spreadMs = 60_000

// graceMs is how late a slice may be before it counts as overdue; what is less
// late is simply run.
const graceMs = 1_000

// Execution bounds. Without a timeout in its config a run ends after
// fallbackTimeout (spec/monitoring.md 4.4); the scheduler's own deadline is a
// margin behind the strategy's, and the lease another margin behind that.
const (
	fallbackTimeout = 60 * time.Second
	deadlineMargin  = 5 * time.Second
	leaseMargin     = 15 * time.Second
)

// sliceID names the slice of a configuration and a system in indexes, where two
// UUIDs would be nine times as long. It is a hash, so queries compare the pair
// as well where it matters, and a clash would be refused by the primary key.
func sliceID(systemID, configurationID string) int64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(systemID))
	_, _ = h.Write([]byte{0})
	_, _ = h.Write([]byte(configurationID))
	return int64(mix(h.Sum64()))
}

// mix spreads the bits of a hash, whose low ones FNV leaves regular for ids that
// differ in few characters.
func mix(x uint64) uint64 {
	x ^= x >> 33
	x *= 0xff51afd7ed558ccd
	x ^= x >> 33
	x *= 0xc4ceb9fe1a85ec53
	return x ^ x>>33
}

// phaseOf is where in its interval a slice runs: the same after every restart,
// and even over many slices.
func phaseOf(slice int64, intervalMs int64) int64 {
	return int64(mix(uint64(slice)) % uint64(intervalMs))
}

// nextSlot is the first slot after now. The claim computes the same in SQL.
func nextSlot(phaseMs, intervalMs, nowMs int64) int64 {
	return phaseMs + ((nowMs-phaseMs)/intervalMs+1)*intervalMs
}

// runID makes a UUIDv7 whose time is the run's own, so that ids sort like
// timestamps whatever the clock did.
func runID(at time.Time) string {
	var b [16]byte
	binary.BigEndian.PutUint64(b[:8], uint64(at.UnixMilli())<<16)
	_, _ = rand.Read(b[6:])
	b[6] = 0x70 | b[6]&0x0f
	b[8] = 0x80 | b[8]&0x3f
	return formatID(b)
}

// lowestID is below every run id of at and later, above every earlier one.
func lowestID(at time.Time) string {
	var b [16]byte
	binary.BigEndian.PutUint64(b[:8], uint64(max(at.UnixMilli(), 0))<<16)
	return formatID(b)
}

func formatID(b [16]byte) string {
	var out [36]byte
	hex.Encode(out[:8], b[:4])
	out[8] = '-'
	hex.Encode(out[9:13], b[4:6])
	out[13] = '-'
	hex.Encode(out[14:18], b[6:8])
	out[18] = '-'
	hex.Encode(out[19:23], b[8:10])
	out[23] = '-'
	hex.Encode(out[24:], b[10:])
	return string(out[:])
}

// timeOfID reads the time out of a run id.
func timeOfID(id string) time.Time {
	u, err := uuid.Parse(id)
	if err != nil {
		return time.Time{}
	}
	return time.UnixMilli(int64(binary.BigEndian.Uint64(u[:8]) >> 16)).UTC()
}

// newID makes the id of anything that is not a run.
func newID() string { return uuid.Must(uuid.NewV7()).String() }

func ofMs(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}
