package llm

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// maxEventBytes bounds one event, so that a broken gateway cannot fill memory.
const maxEventBytes = 4 << 20

var errEventTooLarge = errors.New("the model provider sent an event that is too large")

// sseReader reads the data of server-sent events: LF or CRLF, comments,
// several data lines per event, other fields ignored but for "event".
type sseReader struct {
	r *bufio.Reader
}

func newSSEReader(r io.Reader) *sseReader {
	return &sseReader{r: bufio.NewReaderSize(r, 4<<10)}
}

// next gives the next event, the last one also when its blank line or line end
// is missing, and then io.EOF.
func (s *sseReader) next() (name string, data []byte, err error) {
	seen := false
	for {
		line, err := s.line()
		if err != nil {
			if errors.Is(err, io.EOF) && seen {
				return name, data, nil
			}
			return "", nil, err
		}
		if len(line) == 0 {
			if seen {
				return name, data, nil
			}
			name = ""
			continue
		}
		field, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimPrefix(value, []byte(" "))
		switch string(field) {
		case "data":
			if seen {
				data = append(data, '\n')
			}
			data = append(data, value...)
			seen = true
			if len(data) > maxEventBytes {
				return "", nil, errEventTooLarge
			}
		case "event":
			name = string(value)
		}
	}
}

func (s *sseReader) line() ([]byte, error) {
	var line []byte
	for {
		part, err := s.r.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case err == nil:
			return bytes.TrimRight(line, "\r\n"), nil
		case errors.Is(err, bufio.ErrBufferFull):
			if len(line) > maxEventBytes {
				return nil, errEventTooLarge
			}
		case err == io.EOF && len(line) > 0:
			// The last line may lack its line end; whether it is half a line
			// shows when it is decoded.
			return bytes.TrimRight(line, "\r"), nil
		default:
			return nil, err
		}
	}
}
