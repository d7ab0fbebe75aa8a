import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { ApiError, whenSignedOut } from './api/client';
import { session } from './api/queries';
import { LanguageProvider } from './i18n';
import { makeRouter } from './routes';
import './styles/tokens.css';
import './styles/base.css';
import './styles/parts.css';
import './styles/pages.css';
import { applyTheme } from './ui/theme';

applyTheme();

const client = new QueryClient({
  defaultOptions: {
    queries: {
      retry: (count, error) => count < 2 && !(error instanceof ApiError && error.status >= 400 && error.status < 500),
      staleTime: 1000,
      refetchOnWindowFocus: true,
    },
    mutations: { retry: false },
  },
});
whenSignedOut(() => client.setQueryData(session.queryKey, null));

const router = makeRouter(client);
const root = document.getElementById('root');
if (root) {
  createRoot(root).render(
    <StrictMode>
      <LanguageProvider>
        <QueryClientProvider client={client}>
          <RouterProvider router={router} />
        </QueryClientProvider>
      </LanguageProvider>
    </StrictMode>,
  );
}
