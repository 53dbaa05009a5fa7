import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { api, call, type Output } from "@/api/client";

export type Spend = Output<"/rest/ai/getSpend", "get">;
export type SpendLine = NonNullable<Spend["lines"]>[number];

/** Tokens used within the last days. Each turn of anybody changes it, so it is asked again when somebody looks, not with every signal. */
export function useSpend(days: number, connectionId: string, principalId: string) {
  return useQuery({
    queryKey: ["ai", "getSpend", days, connectionId, principalId],
    queryFn: () =>
      call(
        api.GET("/rest/ai/getSpend", {
          params: { query: { from: new Date(Date.now() - days * 86_400_000).toISOString(), ...(connectionId ? { connectionId } : {}), ...(principalId ? { principalId } : {}) } },
        }),
      ),
    placeholderData: keepPreviousData,
    meta: { deaf: true },
  });
}
