module goq
go 1.19
