package problem

import (
	"encoding/json"
	"math"
	"net/http"
	"strconv"
)

// Body is the one form of an error answer.
type Body struct {
	Code    string  `json:"code" doc:"Stable code, such as BAD_REQUEST" example:"BAD_REQUEST"`
	Message string  `json:"message" doc:"What went wrong, in words for the person who must act"`
	Issues  []Issue `json:"issues,omitempty" doc:"Every fault of the input, with its path"`
}

// BodyOf gives the answer for err. A fault that is no Error becomes a fixed
// sentence, so that no internal text reaches a client.
func BodyOf(err error) (int, Body) {
	if e, ok := As(err); ok {
		return e.Status(), Body{Code: e.Code(), Message: e.Message, Issues: e.Issues}
	}
	return http.StatusInternalServerError, Body{
		Code:    CodeInternal,
		Message: "Something went wrong on the server. Give the correlation id of this answer (header x-correlation-id) to your administrator.",
	}
}

// Write answers the request with err. It reports whether err was a fault of
// ours, which the caller must log.
func Write(w http.ResponseWriter, err error) (fault bool) {
	status, body := BodyOf(err)
	if e, ok := As(err); ok && e.RetryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(e.RetryAfter.Seconds()))))
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
	return status == http.StatusInternalServerError
}
