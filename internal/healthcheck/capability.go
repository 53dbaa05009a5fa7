package healthcheck

import (
	"context"

	"github.com/checkstack/checkstack/internal/operation"
)

// KindBody is a kind of check with what it can measure.
type KindBody struct {
	StrategyBody
	Collectors []CollectorKindBody
}

// Kinds describes every kind of check of this build, as the principal in ctx.
func (s *Service) Kinds(ctx context.Context) ([]KindBody, error) {
	list, err := s.ops.getStrategies.Call(ctx, operation.Empty{})
	if err != nil {
		return nil, err
	}
	out := make([]KindBody, len(list.Strategies))
	for i, k := range list.Strategies {
		measures, err := s.ops.getCollectors.Call(ctx, CollectorsInput{StrategyID: k.ID})
		if err != nil {
			return nil, err
		}
		out[i] = KindBody{StrategyBody: k, Collectors: measures.Collectors}
	}
	return out, nil
}
