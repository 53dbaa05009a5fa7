import { MutationCache, QueryCache, QueryClient } from "@tanstack/react-query";
import { ApiError } from "@/api/errors";
import { sessionKey } from "./session";

/** Marks which realtime signals, besides those of its own plugin, refresh a query. */
declare module "@tanstack/react-query" {
  interface Register {
    queryMeta: {
      /** Further plugins whose signals make this query stale. */
      signals?: string[];
      /** "plugin": any signal of the plugin refreshes it, also one about a single resource. */
      signalScope?: "plugin";
      /** No signal refreshes it: what it shows does not change behind the reader's back. */
      deaf?: boolean;
    };
  }
}

export function createQueryClient(): QueryClient {
  const onError = (error: unknown) => {
    // The session ended elsewhere: ask again who we are, the shell does the rest.
    if (error instanceof ApiError && error.status === 401) void client.invalidateQueries({ queryKey: sessionKey });
  };
  const client: QueryClient = new QueryClient({
    queryCache: new QueryCache({ onError }),
    mutationCache: new MutationCache({ onError }),
    defaultOptions: {
      queries: {
        staleTime: 30_000,
        gcTime: 5 * 60_000,
        retry: (count, error) => count < 2 && (!(error instanceof ApiError) || error.status === 0 || error.status >= 500),
        retryDelay: (attempt) => 500 * 2 ** attempt,
      },
    },
  });
  return client;
}
