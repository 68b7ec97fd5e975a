"""A small dense linear system, for fits by least squares."""


def solve(m):
    """m [n][n+1]: Gauss and Jordan with row exchanges."""
    n = len(m)
    for i in range(n):
        p = max(range(i, n), key=lambda k: abs(m[k][i]))
        m[i], m[p] = m[p], m[i]
        for k in range(n):
            if k != i:
                f = m[k][i] / m[i][i]
                m[k] = [a - f * b for a, b in zip(m[k], m[i])]
    return [m[i][n] / m[i][i] for i in range(n)]
