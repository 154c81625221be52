# 7 "recursion.cl"
1 + f(1) + f(1 + f(1)) | g(1) | even(4 - 1 - 1) | ((int)get_global_id(((int)get_global_id(0))))



f (2) | 2 + f(2)
