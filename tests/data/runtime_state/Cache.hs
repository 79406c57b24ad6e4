-- A cache that keeps 200 boxed numbers more at each of 60 steps: the heap grows by about 8 KiB a step (GHC heap profile sample).
module Main (main) where
import Control.Monad (forM_)
import qualified Data.IORef as Ref
import qualified Data.Map.Strict as Map

insert :: Ref.IORef (Map.Map Int Int) -> Int -> IO ()
insert cache step = Ref.modifyIORef' cache (\m -> foldr (\k -> Map.insert k (k * step)) m [step * 200 .. step * 200 + 199])
{-# NOINLINE insert #-}

main :: IO ()
main = do
  cache <- Ref.newIORef Map.empty
  forM_ [1 .. 60] $ \step -> insert cache step >> work step
  Ref.readIORef cache >>= print . Map.size

-- What a request allocates and gives back.
work :: Int -> IO ()
work step = print (length (show (product [toInteger step .. toInteger step + 3000])))
